"""Explorer: see, use and teach adaptive, differentially private online estimation.

    >>> import explorer as ex
    >>> ex.best_interval(epsilon=1).value.__round__(4)
    0.1089
    >>> mech = ex.mechanism("laplace", epsilon=1.0)
    >>> ex.log_likelihood(0.0, mu=0, sigma=1, left=-1, right=1, epsilon=1).round(4)
    np.float64(-1.687)

The names below are the public ones. Each is imported when it is first asked for, so that ``import explorer`` takes no
time: the command can be interrupted from its first moment on, and nobody waits for Panel who asks for a number.
"""

from importlib import import_module

#: Where the public names are.
_HOMES = {
    "explorer.engine.inference.batch_posterior": ("batch_posterior",),
    "explorer.engine.inference.history": ("History",),
    "explorer.engine.inference.likelihood": ("log_likelihood", "log_likelihood_gradient"),
    "explorer.engine.inference.priors": ("IndependentPrior", "Prior", "SemiConjugatePrior"),
    "explorer.engine.inference.samplers": (
        "BATCH_SAMPLERS",
        "ImpossibleAnswerError",
        "Info",
        "Posterior",
        "SAMPLERS",
        "Sampler",
    ),
    "explorer.engine.information": (
        "BestInterval",
        "LdpBest",
        "MonteCarloInformation",
        "NoBestIntervalError",
        "Option",
        "SCORES",
        "Surface",
        "best_interval",
        "best_ldp",
        "classical_information",
        "fisher_information",
        "monte_carlo_information",
        "plan",
        "score_function",
        "score_surface",
    ),
    "explorer.engine.mechanisms": ("Interval", "MECHANISMS", "Mechanism", "Privacy", "mechanism"),
    "explorer.engine.policy": ("Fixed", "Oracle", "POLICIES", "Policy"),
    "explorer.engine.population": ("FAMILIES", "Family", "family"),
    "explorer.engine.privacy.audit": ("AuditReport", "audit", "audit_run"),
    "explorer.engine.privacy.secure": ("secure",),
    "explorer.engine.run.adaptive_run": ("adaptive_run",),
    "explorer.engine.run.collection": ("Answered", "Collection"),
    "explorer.engine.run.estimator": ("OnlineEstimator",),
    "explorer.engine.run.open_estimate": ("OpenEstimate", "open_estimate"),
    "explorer.engine.run.simulation": ("Step", "iter_simulation", "simulate"),
    "explorer.engine.run.trace": ("Trace",),
    "explorer.io.data_file": ("Column", "DataFile"),
    "explorer.studies.study": ("study",),
    "explorer.studies.summary": ("summary",),
    "explorer.views.tabs.compare": ("Compare",),
    "explorer.views.tabs.fisher_map": ("FisherMap",),
    "explorer.views.tabs.live_run": ("LiveRun",),
    "explorer.views.tabs.mechanism": ("MechanismView",),
    "explorer.views.tabs.plan": ("Planner",),
    "explorer.views.tabs.your_data": ("YourData",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
__all__ = sorted(_HOME_OF)


def __getattr__(name: str):
    if name not in _HOME_OF:
        raise AttributeError(f"module 'explorer' has no attribute {name!r}")
    globals()[name] = found = getattr(import_module(_HOME_OF[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
