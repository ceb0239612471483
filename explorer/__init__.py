"""Explorer: see, use and teach adaptive, differentially private online estimation.

    >>> import explorer as ex
    >>> ex.best_interval(epsilon=1).value.__round__(4)
    0.1089
    >>> mech = ex.mechanism("laplace", epsilon=1.0)
    >>> ex.log_likelihood(0.0, mu=0, sigma=1, left=-1, right=1, epsilon=1).round(4)
    np.float64(-1.687)

The names below are the public ones. The dashboard's parts (``FisherMap``) and what needs pandas (``study``) are
imported when asked for, so that ``import explorer`` stays light.
"""

from importlib import import_module

from explorer.engine.audit import AuditReport, adaptive_run, audit, audit_run
from explorer.engine.batch_estimation import batch_posterior
from explorer.engine.bound import LdpBest, best_ldp
from explorer.engine.collection import Answered, Collection, OpenEstimate, open_estimate
from explorer.engine.data_file import Column, DataFile
from explorer.engine.estimation import OnlineEstimator
from explorer.engine.families import FAMILIES, Family, family
from explorer.engine.history import History
from explorer.engine.information import (
    SCORES,
    Estimate,
    Surface,
    classical_information,
    fisher_information,
    monte_carlo_information,
    score_function,
    score_surface,
)
from explorer.engine.interval import Interval
from explorer.engine.likelihood import log_likelihood, log_likelihood_gradient
from explorer.engine.mechanisms import MECHANISMS, Mechanism, Privacy, mechanism
from explorer.engine.optimum import BestInterval, NoBestIntervalError, best_interval
from explorer.engine.planner import Option, plan
from explorer.engine.priors import IndependentPrior, Prior, SemiConjugatePrior
from explorer.engine.samplers import BATCH_SAMPLERS, SAMPLERS, ImpossibleAnswerError, Info, Posterior, Sampler
from explorer.engine.secure import secure
from explorer.engine.simulation import Step, Trace, iter_simulation, simulate
from explorer.engine.truncation import POLICIES, Fixed, Oracle, Policy

_WHEN_ASKED_FOR = {
    "Compare": "explorer.views.compare",
    "FisherMap": "explorer.views.fisher_map",
    "LiveRun": "explorer.views.live_run",
    "MechanismView": "explorer.views.mechanism_view",
    "Planner": "explorer.views.planner",
    "YourData": "explorer.views.your_data",
    "study": "explorer.engine.study",
    "summary": "explorer.engine.summary",
}

__all__ = [
    "BATCH_SAMPLERS",
    "FAMILIES",
    "MECHANISMS",
    "POLICIES",
    "SAMPLERS",
    "SCORES",
    "Answered",
    "AuditReport",
    "BestInterval",
    "Collection",
    "Column",
    "Compare",
    "DataFile",
    "Estimate",
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
    "Mechanism",
    "MechanismView",
    "NoBestIntervalError",
    "OnlineEstimator",
    "OpenEstimate",
    "Option",
    "Oracle",
    "Planner",
    "Policy",
    "Posterior",
    "Prior",
    "Privacy",
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


def __getattr__(name: str):
    if name in _WHEN_ASKED_FOR:
        return getattr(import_module(_WHEN_ASKED_FOR[name]), name)
    raise AttributeError(f"module 'explorer' has no attribute {name!r}")
