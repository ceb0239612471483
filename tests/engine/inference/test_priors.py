"""Priors against scipy.stats and against themselves."""

import numpy as np
import pytest
from scipy import integrate, stats

import explorer as ex
from explorer.engine.inference.priors import described_prior

MU, SIGMA = np.array([-3.0, 0.0, 7.0]), np.array([0.2, 1.0, 5.0])


def test_the_papers_prior_is_what_it_says():
    prior = ex.SemiConjugatePrior(1.0, 4.0, 3.0, 2.0)
    # the density of sigma is that of sigma^2 times 2 sigma
    expected = stats.norm(1, 2).logpdf(MU) + stats.invgamma(3, scale=2).logpdf(SIGMA**2) + np.log(2 * SIGMA)
    np.testing.assert_allclose(prior.log_density(MU, SIGMA), expected, rtol=1e-12)
    default = ex.SemiConjugatePrior()
    assert (default.mean, default.variance, default.shape, default.scale) == (0, 1e4, 1, 1)


PRIORS = [
    ex.SemiConjugatePrior(),
    ex.SemiConjugatePrior(-2, 9, 4, 12),
    ex.SemiConjugatePrior(shape=0.01),
    ex.IndependentPrior(stats.t(3, loc=1, scale=2), stats.gamma(2, scale=3)),
]


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
def test_draws_follow_the_density(prior):
    mu, sigma = prior.sample(np.random.default_rng(1), 20_000).T
    at = np.array([0.05, 0.3, 0.7, 0.95])
    for values, quantiles in zip((mu, sigma), prior.quantile(at, at), strict=True):
        np.testing.assert_allclose(np.mean(values[:, None] <= quantiles, axis=0), at, atol=0.015)
    # the density between two quantiles integrates to the probability between them
    (low_mu, high_mu), (low_sigma, high_sigma) = prior.quantile(np.array([0.2, 0.9]), np.array([0.1, 0.8]))
    mass, _ = integrate.dblquad(
        lambda s, m: np.exp(prior.log_density(m, np.exp(s)) + s),
        low_mu,
        high_mu,
        np.log(low_sigma),
        np.log(high_sigma),
        epsabs=1e-8,
    )
    assert mass == pytest.approx(0.7 * 0.7, abs=1e-5)


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
def test_the_box_holds_all_that_can_matter(prior):
    box = prior.box()
    mu, sigma = prior.quantile(np.array([1e-12, 1 - 1e-12]), np.array([1e-12, 1 - 1e-12]))
    assert box.mu[0] <= mu[0] < mu[1] <= box.mu[1]
    assert box.sigma[0] <= sigma[0] < sigma[1] <= box.sigma[1]


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
def test_a_description_makes_the_same_prior(prior):
    again = described_prior(prior.description)
    np.testing.assert_array_equal(again.log_density(MU, SIGMA), prior.log_density(MU, SIGMA))
    assert repr(again) == repr(prior)


def test_wrong_priors_are_told():
    with pytest.raises(ValueError, match="variance must be a finite number above 0"):
        ex.SemiConjugatePrior(variance=0)
    with pytest.raises(ValueError, match="shape must be"):
        ex.SemiConjugatePrior(shape=-1)
    with pytest.raises(ValueError, match="shape must be larger"):
        ex.SemiConjugatePrior(shape=0.001)
    with pytest.raises(ValueError, match="mu must be a distribution with logpdf and ppf"):
        ex.IndependentPrior(3, stats.gamma(2))
    with pytest.raises(ValueError, match="sigma must have a distribution on positive numbers"):
        ex.IndependentPrior(stats.norm(), stats.norm())


@pytest.mark.parametrize(("low", "high"), [(0, 1e-101), (-1e101, 0), (0, np.inf), (5, 5)])
def test_guesses_beyond_what_can_be_computed_with_are_told(low, high):
    with pytest.raises(ValueError, match=r"low|high"):
        ex.SemiConjugatePrior.expecting(low, high)


@pytest.mark.parametrize(("low", "high"), [(0, 1e-99), (1, np.nextafter(1, 2)), (-1e60, 1e60)])
def test_sigma_is_around_a_quarter_of_the_distance(low, high):
    prior = ex.SemiConjugatePrior.expecting(low, high)
    assert prior.quantile(np.array(0.5), np.array(0.5))[1] == pytest.approx((high - low) / 4)
