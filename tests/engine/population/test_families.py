"""Families against SciPy's distributions and against their own definitions."""

import math
import pickle

import mpmath as mp
import numpy as np
import oracle
import pytest
from scipy import special, stats

import explorer as ex
from explorer.engine.compute.compiled import map_scalar
from explorer.engine.compute.quadrature import NODES, WEIGHTS
from explorer.engine.information import fisher_information
from explorer.engine.population import FAMILIES, Family, StudentT, family

SCIPY = {
    "normal": stats.norm,
    "student_t": stats.t(5),
    "logistic": stats.logistic,
    "laplace": stats.laplace,
    "gumbel": stats.gumbel_r,
}


@pytest.mark.parametrize("name", FAMILIES)
def test_logarithms_agree_with_scipy_from_tail_to_tail(name):
    chosen = family(name)
    z = np.linspace(-30, 30, 1201)
    for pointer, method in zip(chosen.code[:3], ("logpdf", "logcdf", "logsf"), strict=True):
        with np.errstate(divide="ignore", over="ignore"):
            expected = getattr(SCIPY[name], method)(z)
        np.testing.assert_allclose(map_scalar(pointer, chosen.shape, chosen.norm, z), expected, rtol=1e-13, atol=1e-16)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("z", [-300.0, -45.0, -2.0, 0.3, 45.0, 300.0])
def test_logarithms_agree_with_mpmath_where_probabilities_underflow(name, z):
    if name == "gumbel" and z < -6:
        z = -6.3  # e^{-e^{6.3}} is already 10^-236
    chosen = family(name)
    for pointer, table in zip(chosen.code[:3], (oracle.PDF, oracle.CDF, oracle.SF), strict=True):
        value = float(map_scalar(pointer, chosen.shape, chosen.norm, z))
        with mp.workdps(400):
            expected = mp.log(table[name](mp.mpf(z), mp.mpf(5)))
        assert value == pytest.approx(float(expected), rel=1e-13)


@pytest.mark.parametrize("df", [0.5, 1.0, 2.5, 30.0, 300.0])
def test_student_t_for_other_degrees_of_freedom(df):
    z = np.linspace(-20, 20, 401)
    chosen = StudentT(df)
    np.testing.assert_allclose(chosen.cdf(z), stats.t(df).cdf(z), rtol=1e-11)
    np.testing.assert_allclose(chosen.pdf(z), stats.t(df).pdf(z), rtol=1e-11)


@pytest.mark.parametrize("name", FAMILIES)
def test_quantile_inverts_the_cdf(name):
    chosen = family(name)
    u = np.linspace(0.001, 0.999, 501)
    np.testing.assert_allclose(chosen.cdf(chosen.ppf(u)), u, atol=1e-14)


@pytest.mark.parametrize("name", FAMILIES)
def test_score_is_the_derivative_of_the_log_density(name):
    chosen = family(name)
    for z in (-2.3, -0.4, 0.7, 3.1):
        by_mu = mp.diff(lambda mu, z=z: mp.log(oracle.PDF[name](z - mu, mp.mpf(5))), 0)
        by_sigma = mp.diff(lambda s, z=z: mp.log(oracle.PDF[name](z / s, mp.mpf(5)) / s), 1)
        np.testing.assert_allclose(chosen.score(z), [float(by_mu), float(by_sigma)], rtol=1e-12)


@pytest.mark.parametrize("name", FAMILIES)
def test_panels_cover_the_line_and_integrate_the_density(name):
    chosen = family(name)
    edges = chosen.code[-1]
    assert set(chosen.kinks) <= set(edges)
    half = np.diff(edges)[:, None] / 2
    z = edges[:-1, None] + half * (1 + NODES)
    assert np.sum(half * WEIGHTS * chosen.pdf(z)) == pytest.approx(1, abs=1e-13)


@pytest.mark.parametrize("name", FAMILIES)
def test_samples_follow_the_distribution(name):
    sample = family(name).sample(np.random.default_rng(7), 20_000)
    assert stats.kstest(sample, SCIPY[name].cdf).pvalue > 1e-3


class HyperbolicSecant(Family):
    """A family that a user might add: five functions, nothing else."""

    name = "hyperbolic_secant"

    @staticmethod
    def logpdf(z, shape, norm):
        t = 0.5 * math.pi * abs(z)
        return -t - math.log1p(math.exp(-2 * t))

    @staticmethod
    def logcdf(z, shape, norm):
        return math.log(2 / math.pi * math.atan(math.exp(0.5 * math.pi * z)))

    @staticmethod
    def logsf(z, shape, norm):
        return math.log(2 / math.pi * math.atan(math.exp(-0.5 * math.pi * z)))

    @staticmethod
    def slope(z, shape, norm):
        return -0.5 * math.pi * math.tanh(0.5 * math.pi * z)

    @staticmethod
    def quantile(u, shape=0.0):
        return 2 / math.pi * np.log(np.tan(0.5 * math.pi * np.asarray(u)))


def test_a_new_family_needs_one_small_class():
    mine = HyperbolicSecant()
    z = np.linspace(-5, 5, 101)
    np.testing.assert_allclose(mine.cdf(z), stats.hypsecant(scale=2 / math.pi).cdf(z), rtol=1e-12)
    # With no noise worth the name and nothing clipped, the information is the classical (pi^2/8) of the location.
    information = fisher_information(-60, 60, epsilon=1e5, family=mine)
    assert information[0, 0] == pytest.approx(math.pi**2 / 8, rel=1e-4)


def test_symmetry_is_found_and_not_declared():
    assert {name: family(name).symmetric for name in FAMILIES} == dict.fromkeys(FAMILIES, True) | {"gumbel": False}


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_in_use_can_be_pickled(name):
    chosen = family(name)
    before = chosen.cdf(0.3)
    again = pickle.loads(pickle.dumps(chosen))
    assert again == chosen
    assert again.cdf(0.3) == before


@pytest.mark.parametrize("df", [999.0, 1001.0, 1e6, 1e10, 1e14])
def test_student_t_tends_to_the_normal_without_losing_digits(df):
    with mp.workdps(40):
        exact = oracle.PDF["student_t"](mp.mpf("0.7"), mp.mpf(df))
    assert float(StudentT(df).pdf(0.7)) == pytest.approx(float(exact), rel=1e-13)


def test_names_and_shapes_are_checked():
    with pytest.raises(ValueError, match=r"family must be one of 'normal', .*'gumbel', got 'cauchy'"):
        family("cauchy")
    with pytest.raises(ValueError, match="df must be a finite number above 0, got -1"):
        family("student_t", df=-1)
    with pytest.raises(ValueError, match="'normal' does not take df"):
        family("normal", df=3)
    assert family("student_t", df=3) == StudentT(3) != StudentT(4)
    assert special.ndtri(0.5) == family("normal").quantile(0.5)


@pytest.mark.parametrize("df", [1e-300, 1e-6, 0.05, 0.3, 0.499, 1.1e15, 1e300])
def test_degrees_of_freedom_outside_their_range_are_told(df):
    with pytest.raises(ValueError, match=r"df must lie between 0\.5 and 1e\+15"):
        ex.family("student_t", df=df)


@pytest.mark.parametrize("df", [0.5, 1e15])
def test_degrees_of_freedom_at_the_ends_of_their_range(df):
    family = ex.family("student_t", df=df)
    for mechanism in ex.MECHANISMS:
        assert np.isfinite(ex.best_interval(2.0, family=family, mechanism=mechanism).value)
    trace = ex.simulate(n=10, particles=50, family=family, seed=1)
    assert np.isfinite(trace.log_evidence[-1])
