# Made by tests/public_names.py from the list in __init__.py: change that.
from explorer.engine.audit import (
    AuditReport as AuditReport,
    adaptive_run as adaptive_run,
    audit as audit,
    audit_run as audit_run,
)
from explorer.engine.batch_estimation import (
    batch_posterior as batch_posterior,
)
from explorer.engine.bound import (
    LdpBest as LdpBest,
    best_ldp as best_ldp,
)
from explorer.engine.collection import (
    Answered as Answered,
    Collection as Collection,
    OpenEstimate as OpenEstimate,
    open_estimate as open_estimate,
)
from explorer.engine.data_file import (
    Column as Column,
    DataFile as DataFile,
)
from explorer.engine.estimation import (
    OnlineEstimator as OnlineEstimator,
)
from explorer.engine.families import (
    FAMILIES as FAMILIES,
    Family as Family,
    family as family,
)
from explorer.engine.history import (
    History as History,
)
from explorer.engine.information import (
    Estimate as Estimate,
    SCORES as SCORES,
    Surface as Surface,
    classical_information as classical_information,
    fisher_information as fisher_information,
    monte_carlo_information as monte_carlo_information,
    score_function as score_function,
    score_surface as score_surface,
)
from explorer.engine.interval import (
    Interval as Interval,
)
from explorer.engine.likelihood import (
    log_likelihood as log_likelihood,
    log_likelihood_gradient as log_likelihood_gradient,
)
from explorer.engine.mechanisms import (
    MECHANISMS as MECHANISMS,
    Mechanism as Mechanism,
    Privacy as Privacy,
    mechanism as mechanism,
)
from explorer.engine.optimum import (
    BestInterval as BestInterval,
    NoBestIntervalError as NoBestIntervalError,
    best_interval as best_interval,
)
from explorer.engine.planner import (
    Option as Option,
    plan as plan,
)
from explorer.engine.priors import (
    IndependentPrior as IndependentPrior,
    Prior as Prior,
    SemiConjugatePrior as SemiConjugatePrior,
)
from explorer.engine.samplers import (
    BATCH_SAMPLERS as BATCH_SAMPLERS,
    ImpossibleAnswerError as ImpossibleAnswerError,
    Info as Info,
    Posterior as Posterior,
    SAMPLERS as SAMPLERS,
    Sampler as Sampler,
)
from explorer.engine.secure import (
    secure as secure,
)
from explorer.engine.simulation import (
    Step as Step,
    Trace as Trace,
    iter_simulation as iter_simulation,
    simulate as simulate,
)
from explorer.engine.study import (
    study as study,
)
from explorer.engine.summary import (
    summary as summary,
)
from explorer.engine.truncation import (
    Fixed as Fixed,
    Oracle as Oracle,
    POLICIES as POLICIES,
    Policy as Policy,
)
from explorer.views.compare import (
    Compare as Compare,
)
from explorer.views.fisher_map import (
    FisherMap as FisherMap,
)
from explorer.views.live_run import (
    LiveRun as LiveRun,
)
from explorer.views.mechanism_view import (
    MechanismView as MechanismView,
)
from explorer.views.planner import (
    Planner as Planner,
)
from explorer.views.your_data import (
    YourData as YourData,
)

__all__ = [
    "Answered",
    "AuditReport",
    "BATCH_SAMPLERS",
    "BestInterval",
    "Collection",
    "Column",
    "Compare",
    "DataFile",
    "Estimate",
    "FAMILIES",
    "Family",
    "FisherMap",
    "Fixed",
    "History",
    "ImpossibleAnswerError",
    "IndependentPrior",
    "Info",
    "Interval",
    "LdpBest",
    "LiveRun",
    "MECHANISMS",
    "Mechanism",
    "MechanismView",
    "NoBestIntervalError",
    "OnlineEstimator",
    "OpenEstimate",
    "Option",
    "Oracle",
    "POLICIES",
    "Planner",
    "Policy",
    "Posterior",
    "Prior",
    "Privacy",
    "SAMPLERS",
    "SCORES",
    "Sampler",
    "SemiConjugatePrior",
    "Step",
    "Surface",
    "Trace",
    "YourData",
    "adaptive_run",
    "audit",
    "audit_run",
    "batch_posterior",
    "best_interval",
    "best_ldp",
    "classical_information",
    "family",
    "fisher_information",
    "iter_simulation",
    "log_likelihood",
    "log_likelihood_gradient",
    "mechanism",
    "monte_carlo_information",
    "open_estimate",
    "plan",
    "score_function",
    "score_surface",
    "secure",
    "simulate",
    "study",
    "summary",
]
