"""What a type checker says about the public names; mypy checks this file, and nothing runs it."""

from typing import assert_type

import numpy as np

import explorer as ex

assert_type(ex.best_interval(1.0), ex.BestInterval)
assert_type(ex.best_interval(1.0).a, float)
assert_type(ex.fisher_information(-1.0, 1.0, 1.0), np.ndarray)
assert_type(ex.score_surface(1.0), ex.Surface)
assert_type(ex.mechanism("laplace", 1.0), ex.Mechanism)
assert_type(ex.family("normal"), ex.Family)
assert_type(ex.Interval(-1.0, 1.0).midpoint, float)

trace = ex.simulate(n=10, epsilon=1.0, particles=20, seed=1)
assert_type(trace, ex.Trace)
assert_type(trace.mean, np.ndarray)
for step in ex.iter_simulation(n=10, seed=1):
    assert_type(step, ex.Step)
    assert_type(step.posterior, ex.Posterior)

estimator = ex.OnlineEstimator(epsilon=1.0, seed=1)
assert_type(estimator.interval, ex.Interval)
assert_type(estimator.posterior, ex.Posterior)
assert_type(estimator.posterior.mean, np.ndarray)
assert_type(ex.OnlineEstimator.load("estimator.npz"), ex.OnlineEstimator)

assert_type(ex.audit(ex.mechanism("laplace", 1.0), ex.Interval(-1.0, 1.0)), ex.AuditReport)
assert_type(ex.plan(sigma=1.0, standard_error=0.1, epsilon=1.0), list[ex.Option])
assert_type(ex.best_ldp(1.0), ex.LdpBest)

ex.simulate(epsilon="much")  # type: ignore[arg-type]  # unused if nothing checks the arguments
ex.nonsense  # type: ignore[attr-defined]  # noqa: B018 - unused if the names were not known
