# Made by tests/public_names.py from the list in __init__.py: change that.
from explorer.engine.inference.batch_posterior import (
    batch_posterior as batch_posterior,
)
from explorer.engine.inference.history import (
    History as History,
)
from explorer.engine.inference.likelihood import (
    log_likelihood as log_likelihood,
    log_likelihood_gradient as log_likelihood_gradient,
)
from explorer.engine.inference.priors import (
    IndependentPrior as IndependentPrior,
    Prior as Prior,
    SemiConjugatePrior as SemiConjugatePrior,
)
from explorer.engine.inference.samplers import (
    BATCH_SAMPLERS as BATCH_SAMPLERS,
    ImpossibleAnswerError as ImpossibleAnswerError,
    Info as Info,
    Posterior as Posterior,
    SAMPLERS as SAMPLERS,
    Sampler as Sampler,
)
from explorer.engine.information import (
    BestInterval as BestInterval,
    LdpBest as LdpBest,
    MonteCarloInformation as MonteCarloInformation,
    NoBestIntervalError as NoBestIntervalError,
    Option as Option,
    SCORES as SCORES,
    Surface as Surface,
    best_interval as best_interval,
    best_ldp as best_ldp,
    classical_information as classical_information,
    fisher_information as fisher_information,
    monte_carlo_information as monte_carlo_information,
    plan as plan,
    score_function as score_function,
    score_surface as score_surface,
)
from explorer.engine.mechanisms import (
    Interval as Interval,
    MECHANISMS as MECHANISMS,
    Mechanism as Mechanism,
    Privacy as Privacy,
    mechanism as mechanism,
)
from explorer.engine.policy import (
    Fixed as Fixed,
    Oracle as Oracle,
    POLICIES as POLICIES,
    Policy as Policy,
)
from explorer.engine.population import (
    FAMILIES as FAMILIES,
    Family as Family,
    family as family,
)
from explorer.engine.privacy.audit import (
    AuditReport as AuditReport,
    audit as audit,
    audit_run as audit_run,
)
from explorer.engine.privacy.secure import (
    secure as secure,
)
from explorer.engine.run.adaptive_run import (
    adaptive_run as adaptive_run,
)
from explorer.engine.run.collection import (
    Answered as Answered,
    Collection as Collection,
)
from explorer.engine.run.estimator import (
    OnlineEstimator as OnlineEstimator,
)
from explorer.engine.run.open_estimate import (
    OpenEstimate as OpenEstimate,
    open_estimate as open_estimate,
)
from explorer.engine.run.simulation import (
    Step as Step,
    iter_simulation as iter_simulation,
    simulate as simulate,
)
from explorer.engine.run.trace import (
    Trace as Trace,
)
from explorer.io.data_file import (
    Column as Column,
    DataFile as DataFile,
)
from explorer.studies.study import (
    study as study,
)
from explorer.studies.summary import (
    summary as summary,
)
from explorer.views.tabs.compare import (
    Compare as Compare,
)
from explorer.views.tabs.fisher_map import (
    FisherMap as FisherMap,
)
from explorer.views.tabs.live_run import (
    LiveRun as LiveRun,
)
from explorer.views.tabs.mechanism import (
    MechanismView as MechanismView,
)
from explorer.views.tabs.plan import (
    Planner as Planner,
)
from explorer.views.tabs.your_data import (
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
    "MonteCarloInformation",
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
