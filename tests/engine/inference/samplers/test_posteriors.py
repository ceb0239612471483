"""The samplers against the grid, and the grid against brute-force quadrature, on fixed data."""

import numpy as np
import pytest
from answers import PRIOR, answers
from posterior_quadrature import posterior as brute_force
from scipy import stats

import explorer as ex
from explorer.engine.inference.samplers import Grid, Marginal, ResampleMove

MECHANISMS = tuple(ex.MECHANISMS)
#: Easy and hard: little and much privacy, a first interval 50 sigmas away, a single answer.
CASES = [(epsilon, name, 12, 50.0) for epsilon in (0.1, 1.0, 5.0, 20.0) for name in MECHANISMS]
CASES += [(5.0, name, 1, 0.0) for name in MECHANISMS]


def identify(case):
    return "-".join(map(str, case))


def grid_posterior(data, prior=PRIOR):
    return data.feed(Grid(data.family, data.mechanism, prior))


@pytest.mark.parametrize("case", CASES, ids=identify)
def test_the_grid_is_exact(case):
    epsilon, name, n, away = case
    data = answers(epsilon, name, n, first_away=away)
    truth = brute_force(data.y, data.left, data.right, PRIOR, data.family, data.mechanism)
    found = grid_posterior(data)
    assert found.log_evidence == pytest.approx(truth.log_evidence, abs=1e-6)
    np.testing.assert_allclose(found.mean, truth.mean, atol=1e-6 * truth.sd.min())
    np.testing.assert_allclose(found.sd, truth.sd, rtol=1e-6)
    assert found.weights.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("family", ["student_t", "gumbel"])
def test_the_grid_is_exact_for_other_families(family):
    data = answers(2.0, "laplace", 4, family=family)
    truth = brute_force(data.y, data.left, data.right, PRIOR, data.family, data.mechanism)
    found = grid_posterior(data)
    assert found.log_evidence == pytest.approx(truth.log_evidence, abs=1e-6)
    np.testing.assert_allclose(found.mean, truth.mean, atol=1e-6 * truth.sd.min())
    np.testing.assert_allclose(found.sd, truth.sd, rtol=1e-6)


def test_the_grids_quantiles_invert_the_distribution():
    data = answers(5.0, "laplace", 12)
    truth = brute_force(data.y, data.left, data.right, PRIOR, data.family, data.mechanism)
    found = grid_posterior(data)
    levels = np.array([0.01, 0.25, 0.5, 0.9])
    for column in (0, 1):
        for level, value in zip(levels, found.quantiles(levels)[:, column], strict=True):
            # Counting nodes below a value is right to the mass around one of them.
            step = truth.mass[np.abs(truth.nodes[column] - value) < (0.13, 0.04 * value)[column]].sum()
            assert abs(truth.cdf(column, value) - level) <= step
            assert step < 0.15
    # With no answers the quantiles are the prior's.
    grid = Grid(data.family, data.mechanism, PRIOR)
    mu, sigma = PRIOR.quantile(levels, levels)
    np.testing.assert_allclose(
        grid.posterior(grid.init()).quantiles(levels), np.stack([mu, sigma], axis=1), rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize(
    ("name", "epsilon", "history"),
    [
        ("randomized_response", 3.0, [(1.0, 19.0, 21.0)] * 40 + [(-1.0, -21.0, -19.0)] * 60),
        # down to e^-1200, far below what a floating-point number holds
        ("laplace", 20.0, [(-10.0, -10.0, 30.0)] * 60 + [(30.0, -10.0, 30.0)] * 70),
    ],
    ids=["randomized_response", "laplace"],
)
def test_the_grid_sleeps_and_wakes(name, epsilon, history):
    """Answers that contradict all that came before: the posterior returns to cells that had been given up."""
    prior = ex.SemiConjugatePrior(mean=0, variance=400, shape=4000, scale=16_000)  # a wider sigma explains nothing
    family, mechanism = ex.family("normal"), ex.mechanism(name, epsilon)
    grid = Grid(family, mechanism, prior)
    state = grid.init()
    means = []
    for y, left, right in history:
        state, _ = grid.step(None, state, y, ex.Interval(left, right))
        means.append(grid.posterior(state).mean[0])
    assert means[39] * means[-1] < 0
    truth = brute_force(*np.array(history).T, prior, family, mechanism)
    found = grid.posterior(state)
    assert found.log_evidence == pytest.approx(truth.log_evidence, abs=1e-5)
    np.testing.assert_allclose(found.mean, truth.mean, atol=1e-5 * truth.sd.min())
    # And it had slept: fewer cells are up to date than there are.
    assert np.count_nonzero(state.counted == len(history)) < len(state.boxes)


def check_against_grid(data, make_sampler, repeats):
    exact = grid_posterior(data)
    runs = [data.feed(make_sampler(data), seed) for seed in range(repeats)]
    means, sds = np.array([run.mean for run in runs]), np.array([run.sd for run in runs])
    error = means.std(axis=0, ddof=1) / np.sqrt(repeats)
    assert np.all(np.abs(means.mean(axis=0) - exact.mean) < 4 * error)
    np.testing.assert_allclose(sds.mean(axis=0), exact.sd, rtol=0.1)
    return exact, runs


@pytest.mark.parametrize("case", CASES, ids=identify)
def test_marginal_agrees_with_the_grid(case):
    epsilon, name, n, away = case
    data = answers(epsilon, name, n, first_away=away)
    exact, runs = check_against_grid(data, lambda d: Marginal(d.family, d.mechanism, PRIOR, 1000), 20)
    # The evidence itself is unbiased, not its logarithm.
    evidence = np.exp([run.log_evidence - exact.log_evidence for run in runs])
    assert abs(evidence.mean() - 1) < 4 * evidence.std(ddof=1) / np.sqrt(len(runs))
    assert evidence.std() < 0.5


@pytest.mark.parametrize("family", ["student_t", "logistic", "laplace", "gumbel"])
def test_marginal_agrees_with_the_grid_for_other_families(family):
    check_against_grid(
        answers(5.0, "piecewise", 12, family=family), lambda d: Marginal(d.family, d.mechanism, PRIOR, 1000), 20
    )


@pytest.mark.parametrize("case", CASES, ids=identify)
def test_resample_move_agrees_with_the_grid(case):
    epsilon, name, n, away = case
    data = answers(epsilon, name, n, first_away=away)
    # The less noise, the fewer values drawn from the population come near the answer: so more must be drawn.
    particles = 20_000 if (epsilon, name) == (20.0, "piecewise") else 2000
    check_against_grid(data, lambda d: ResampleMove(d.family, d.mechanism, PRIOR, particles), 16)


@pytest.mark.parametrize(
    "options",
    [{"resampling": "systematic"}, {"resampling": "stratified"}, {"resampling": "residual"}, {"subset": 4}],
    ids=str,
)
def test_resample_move_agrees_in_all_its_variants(options):
    data = answers(5.0, "laplace", 12)
    check_against_grid(data, lambda d: ResampleMove(d.family, d.mechanism, PRIOR, 2000, **options), 16)


@pytest.mark.parametrize("family", ["student_t", "gumbel"])
def test_resample_move_agrees_without_conjugacy(family):
    data = answers(5.0, "laplace", 12, family=family)
    check_against_grid(data, lambda d: ResampleMove(d.family, d.mechanism, PRIOR, 2000), 16)


def test_the_papers_prior_leaves_sigma_without_a_variance():
    """Likelihoods never fall to 0 as sigma grows, and sigma^-3 has no second moment: so quantiles are compared."""
    prior = ex.SemiConjugatePrior()
    data = answers(5.0, "laplace", 30)
    exact = grid_posterior(data, prior)
    levels = [0.1, 0.5, 0.9]
    runs = [data.feed(Marginal(data.family, data.mechanism, prior, 2000), seed).quantiles(levels) for seed in range(20)]
    error = np.std(runs, axis=0, ddof=1) / np.sqrt(20)
    assert np.all(np.abs(np.mean(runs, axis=0) - exact.quantiles(levels)) < 4 * error)


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("epsilon", [0.5, 8.0])
def test_the_bound_by_which_the_grid_sleeps(name, epsilon):
    """No two values of an individual make an answer's likelihoods differ by more."""
    mechanism, interval = ex.mechanism(name, epsilon), ex.Interval(-1.0, 2.0)
    grid = Grid(ex.family("normal"), mechanism, PRIOR)
    x = np.linspace(-1.5, 2.5, 401)
    for y in mechanism.release(np.linspace(-2, 3, 50), interval, np.random.default_rng(1)):
        logs = np.log(mechanism.density(y, x, interval))
        assert np.ptp(logs) <= grid.mechanism.largest_log_ratio(y, interval) * (1 + 1e-9)


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_narrow_bump_in_a_wide_prior_is_not_overlooked(name):
    """One precise answer far inside a very wide interval, under a prior much wider than the population."""
    prior = ex.SemiConjugatePrior(mean=0, variance=70**2, shape=40, scale=160)
    family, mechanism, interval = ex.family("normal"), ex.mechanism(name, 30.0), ex.Interval(-300.0, 500.0)
    y = 1.0 if name == "randomized_response" else 123.4
    truth = brute_force([y], [interval.left], [interval.right], prior, family, mechanism)
    grid = Grid(family, mechanism, prior)
    found = grid.posterior(grid.step(None, grid.init(), y, interval)[0])
    assert found.log_evidence == pytest.approx(truth.log_evidence, abs=1e-5)
    np.testing.assert_allclose(found.mean, truth.mean, atol=1e-5 * truth.sd.max())


@pytest.mark.parametrize("mu", [stats.norm(0, 100), stats.uniform(-5, 10)], ids=["wide", "bounded"])
@pytest.mark.parametrize(
    "sigma", [stats.uniform(3, 0.5), stats.uniform(3, 0.01), stats.truncnorm(-1, 2, loc=3, scale=2), stats.pareto(3)]
)
def test_the_grid_sees_where_a_prior_ends(mu, sigma):
    settings = {"sampler": "grid", "policy": "fixed", "first_interval": (-5, 5)}
    estimator = ex.OnlineEstimator(2.0, prior=ex.IndependentPrior(mu, sigma), **settings)
    assert estimator.posterior.log_evidence == pytest.approx(0, abs=1e-6)
    np.testing.assert_allclose(estimator.posterior.mean, [mu.mean(), sigma.mean()], rtol=1e-5, atol=1e-5)
    estimator.observe(0.3)
    assert np.isfinite(estimator.posterior.log_evidence)
