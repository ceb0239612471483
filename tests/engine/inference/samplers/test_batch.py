"""The batch methods: the same posterior as the grid's, at their Monte Carlo error."""

import numpy as np
import pytest
from answers import MU, PRIOR, SIGMA

import explorer as ex
from explorer.engine.inference.history import History
from explorer.engine.inference.samplers import Grid, Metropolis, Mhaar
from explorer.engine.inference.samplers.batch import effective_size


def data(epsilon: float, mechanism: str, family: str = "normal", half: float = 4.0) -> tuple:
    """A hundred answers to one interval, which is how a batch is asked."""
    mech, rng = ex.mechanism(mechanism, epsilon), np.random.default_rng(2)
    interval = ex.Interval(MU - half * SIGMA, MU + half * SIGMA)
    x = MU + SIGMA * ex.family(family).sample(rng, 100)
    return ex.family(family), mech, mech.release(x, interval, rng), interval


@pytest.mark.parametrize(
    ("case", "methods"),
    [
        ((1.0, "laplace"), (Metropolis, Mhaar)),
        ((5.0, "laplace"), (Metropolis, Mhaar)),
        ((20.0, "laplace"), (Metropolis, Mhaar)),
        ((3.0, "piecewise"), (Mhaar,)),
        ((5.0, "laplace", "gumbel"), (Mhaar,)),
    ],
    ids=lambda value: "-".join(map(str, value)) if isinstance(value[0], float) else "",
)
def test_batch_methods_agree_with_the_grid(case, methods):
    family, mech, y, interval = data(*case)
    grid = Grid(family, mech, PRIOR)
    state = grid.init()
    for answer in y.tolist():
        state, _ = grid.step(None, state, answer, interval)
    truth = grid.posterior(state)

    history = History(y, *(np.full(y.size, end) for end in interval))
    for method in methods:
        found, info = method(family, mech, PRIOR, 12_000).sample(np.random.default_rng(1), history)
        assert 0.1 < info.acceptance["theta"] < 0.6
        assert found.ess > 100
        error = truth.sd / np.sqrt(found.ess)
        assert np.all(np.abs(found.mean - truth.mean) < 4 * error), (method, found.mean, truth.mean, error)
        # A standard deviation from as many normal draws is known to 1/sqrt(2 ess); heavier tails double that.
        assert np.all(np.abs(found.sd / truth.sd - 1) < 4 * np.sqrt(2 / found.ess)), (method, found.sd, truth.sd)


def test_the_effective_size_of_an_autoregression():
    """Known exactly: n (1 - rho)/(1 + rho)."""
    rng = np.random.default_rng(1)
    for rho in (0.0, 0.5, 0.95):
        chain = np.empty(100_000)
        chain[0] = 0
        noise = rng.normal(size=chain.size)
        for t in range(1, chain.size):
            chain[t] = rho * chain[t - 1] + noise[t]
        assert effective_size(chain) == pytest.approx(chain.size * (1 - rho) / (1 + rho), rel=0.15)
    assert effective_size(np.ones(10)) == 1


def test_batch_posteriors_are_reproducible_and_check_their_arguments():
    _, _, y, (left, right) = data(5.0, "laplace")
    one, two = (ex.batch_posterior(y, left, right, 5.0, seed=3, iterations=50) for _ in range(2))
    np.testing.assert_array_equal(one.particles, two.particles)
    with pytest.raises(ValueError, match="iterations must be a whole number of at least 4"):
        ex.batch_posterior(y, left, right, 5.0, iterations=0)
    with pytest.raises(ValueError, match="does not take auxiliary"):
        ex.batch_posterior(y, left, right, 5.0, sampler="metropolis", auxiliary=3)
    with pytest.raises(ValueError, match="sampler must be one of 'mhaar', 'metropolis'"):
        ex.batch_posterior(y, left, right, 5.0, sampler="marginal")
    with pytest.raises(ex.ImpossibleAnswerError, match="probability 0 under every draw"):
        ex.batch_posterior([1e6], 0, 1, 1.0, mechanism="piecewise")
    with pytest.raises(ValueError, match="takes all answers at once"):
        ex.OnlineEstimator(sampler="mhaar")
