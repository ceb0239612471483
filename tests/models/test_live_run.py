"""The live run's model, and the exact posterior over its clouds."""

import numpy as np
import pytest

import explorer as ex
from explorer.engine.inference.posterior_surface import posterior_surface
from explorer.models.exact_posterior import ExactPosterior
from explorer.models.live_run import COLUMNS, ROWS, LiveSimulation, Window, cloud_picture, efficiency, moments


@pytest.fixture(scope="module")
def model() -> LiveSimulation:
    model = LiveSimulation(n=300, particles=400, epsilon=5, seed=3)
    model.compute()
    return model


def test_it_is_the_engines_run(model):
    expected = ex.simulate(n=300, particles=400, epsilon=5, seed=3)
    np.testing.assert_array_equal(model.result.adaptive.trace.mean, expected.mean)
    fixed = ex.simulate(n=300, particles=400, epsilon=5, seed=3, policy="fixed")
    np.testing.assert_array_equal(model.result.fixed.trace.mean, fixed.mean)


def test_first_a_preview_of_all_individuals_then_the_run_and_the_one_beside_it():
    stages = list(LiveSimulation(n=100, particles=400, epsilon=5).work())
    assert [len(stage.adaptive.trace) for stage in stages] == [100, 100]
    assert [stage.adaptive.trace.weights.shape[1] for stage in stages] == [100, 400]
    assert [stage.preview for stage in stages] == [True, False]
    assert [stage.fixed is None for stage in stages] == [True, False]
    alone = list(LiveSimulation(n=100, particles=150, epsilon=5, compare=False).work())
    assert [stage.preview for stage in alone] == [False]


def test_the_interval_by_hand_is_used():
    runs = LiveSimulation(
        n=50, particles=100, manual=True, interval=(0.5, 1.5), policy="oracle", compare=False
    ).compute()
    trace = runs.adaptive.trace
    assert np.allclose(trace.left, 50 + 0.5 * 10**0.5)
    assert np.allclose(trace.right, 50 + 1.5 * 10**0.5)
    assert efficiency(runs) == pytest.approx(ex.fisher_information(0.5, 1.5, 1.0)[0, 0])


def test_the_cramer_rao_limit(model):
    best = ex.best_interval(5.0)
    assert model.result.adaptive.limit[-1] == pytest.approx(10**0.5 / np.sqrt(300 * best.value))
    wide = ex.fisher_information(-10, 10, 5.0)[0, 0]
    assert model.result.fixed.limit[0] == pytest.approx(10**0.5 / np.sqrt(wide))


def test_a_picture_of_a_cloud_is_its_weighted_histogram(model):
    run, window = model.result.adaptive, model.result.window
    assert run.mu_cloud.shape == (ROWS, COLUMNS)
    _, particles, weights = run.cloud(300)
    counts, _ = np.histogram(particles[:, 0], np.linspace(*window.mu, ROWS + 1), weights=weights)
    np.testing.assert_allclose(np.nan_to_num(run.mu_cloud[:, -1]), counts / counts.max(), rtol=1e-5, atol=1e-6)
    assert np.nanmax(run.sigma_cloud, axis=0) == pytest.approx(np.ones(COLUMNS))


def test_a_short_run_has_a_picture_too():
    trace = ex.simulate(n=10, particles=20, seed=1, keep=moments(10))
    assert cloud_picture(trace, 0, (-300, 300)).shape == (ROWS, 10)


def test_the_window_stays_while_it_shows_the_truth():
    window = Window.around(50, 3, None)
    assert Window.around(53, 3, window) is window
    assert Window.around(50, 4, window) is window
    assert Window.around(90, 3, window) != window
    assert Window.around(50, 0.2, window) != window


def test_a_run_moves_and_does_not_jump():
    def last(epsilon: float) -> float:
        return LiveSimulation(n=300, particles=500, epsilon=epsilon, compare=False).compute().adaptive.trace.mean[-1, 0]

    sd = 10**0.5 / np.sqrt(300 * ex.best_interval(5.0).value)
    assert abs(last(5.0) - last(5.05)) < 0.5 * sd


def test_the_code_that_is_offered_gives_the_same_run(model):
    names = {}
    exec(model.result.script().replace("print", ""), names)
    np.testing.assert_array_equal(names["trace"].mean, model.result.adaptive.trace.mean)
    np.testing.assert_array_equal(names["fixed"].y, model.result.fixed.trace.y)
    other = LiveSimulation(
        n=30, particles=50, family="student_t", df=3.5, mechanism="gaussian", manual=True, compare=False
    )
    exec(other.compute().script().replace("print", ""), names)
    np.testing.assert_array_equal(names["trace"].mean, other.result.adaptive.trace.mean)


def test_the_table_holds_what_is_drawn(model):
    table = model.result.table()
    assert len(table) == 600
    adaptive = table[table.run == "adaptive"]
    np.testing.assert_array_equal(adaptive["mu_mean"], model.result.adaptive.trace.mean[:, 0])
    np.testing.assert_array_equal(adaptive["right"], model.result.adaptive.trace.right)


def test_contours_enclose_the_exact_posteriors_mass(model):
    """What the grid sampler's exact posterior holds inside a contour is the share that it is named by."""
    moment = ExactPosterior(experiment=model.experiment, run=model, t=300)
    picture = moment.compute()
    assert picture.exact
    assert picture.t == 300
    trace = model.result.adaptive.trace
    exact = ex.OnlineEstimator(epsilon=5.0, sampler="grid", policy=ex.Fixed(ex.Interval(0, 1)))
    for y, left, right in zip(trace.y[:60], trace.left[:60], trace.right[:60], strict=True):
        exact.observe(y, ex.Interval(left, right))
    posterior = exact.posterior
    low, high = posterior.quantiles([1e-4, 1 - 1e-4])
    surface = posterior_surface(
        *(side[:60] for side in (trace.y, trace.left, trace.right)),
        np.linspace(low[0], high[0], 120),
        np.linspace(low[1], high[1], 120),
        5.0,
    )
    from scipy.interpolate import RegularGridInterpolator

    density = RegularGridInterpolator((surface.mu, surface.sigma), surface.density, bounds_error=False, fill_value=0.0)
    at = density(posterior.particles)
    for share in (0.5, 0.95):
        inside = posterior.weights[at >= surface.level(share)].sum()
        assert inside == pytest.approx(share, abs=0.02)
    assert len(picture.table()) == len(picture.particles)
    # The cloud itself: a contour is where the particles are.
    ring = np.concatenate(picture.contours[1])
    sd = picture.particles.std(axis=0)
    assert np.all(np.abs(ring.mean(axis=0) - picture.particles.mean(axis=0)) < sd)
