"""The paper's outlook: an online point estimate by stochastic gradients with Fisher scoring. O(1) an answer.

The state is a point theta = (mu, log sigma) and a precision matrix J: a normal approximation of the posterior. The
precision starts at that of the prior and grows by the exact Fisher information of each question that was asked. An
answer moves the point along its score, scaled by what is known already::

    J <- J + F(theta; l, r),    theta <- theta + J^-1 grad log p(y | theta; l, r)

Far from the truth a score at one point is no guide: a value ten sigmas away hardly differs from one five sigmas away.
So the score and the information are those of the *predictive* population, whose variance, for a normal family, is
sigma^2 and the variance of mu together: wide at first, when nothing is known, and that of theta in the end. (For other
families the variance of mu counts as much as their information about mu does.)

*How it keeps exploring.* The normal approximation stands in for the posterior wherever one is asked for: Thompson
sampling draws from N(theta, J^-1), so intervals scatter as long as little is known.

*What it does not do.* The precision never falls: a run that has become sure of something wrong stays there for long.
For n = 1000 and epsilon = 5 or 10 it is as accurate as the exact samplers; with fewer answers or a smaller epsilon its
intervals hold the truth too seldom (some 60 to 80 % of the time instead of 95), and now and then a run gets lost.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from explorer.engine.compute.arguments import finite
from explorer.engine.inference.history import History
from explorer.engine.inference.posterior import Posterior
from explorer.engine.inference.priors import LARGEST_SIGMA, SMALLEST_SIGMA
from explorer.engine.inference.samplers.protocol import ImpossibleAnswerError, Info, Sampler, check_array, register
from explorer.engine.information import classical_information, information_of
from explorer.engine.mechanisms.interval import Interval

#: Steps that scatter points evenly over a square: powers of the root of x^3 = x + 1 (Roberts 2018).
_STEPS = 1.32471795724474602596 ** -np.array([1.0, 2.0])
#: log sigma goes no higher,
_HIGHEST = float(np.log(LARGEST_SIGMA))
#: and a variance of it above this means that sigma is unknown.
_UNKNOWN = 2.0
#: Fractions of a normal distribution one standard deviation below and above its centre.
_ONE_SD = np.array([0.15865525393145707, 0.8413447460685429])


class GradientState(NamedTuple):
    """A normal approximation in (mu, log sigma)."""

    point: np.ndarray
    precision: np.ndarray
    log_evidence: float
    history: History


@register
class Gradient(Sampler):
    """Recursive Fisher scoring. ``particles`` is the size of the cloud that stands for the normal approximation."""

    name = "gradient"
    has_particles = False
    state_type = GradientState

    def init(self, rng=None):
        mu, sigma = self.prior.quantile(0.5, 0.5)
        (low, high), (narrow, wide) = self.prior.quantile(_ONE_SD, _ONE_SD)
        spread = np.array([high - low, np.log(wide / narrow)]) / 2
        return GradientState(np.array([float(mu), np.log(float(sigma))]), np.diag(spread**-2.0), 0.0, History())

    def step(self, rng, state, y, interval):
        interval = Interval.of(interval)
        with np.errstate(over="ignore"):
            away = np.float64(y - interval.midpoint) / interval.width
        if not np.isfinite(away):  # farther away than any noise could be told to reach
            raise ImpossibleAnswerError.of(y)
        mu, log_sigma = state.point
        of_mu, of_log_sigma = np.diag(np.linalg.inv(state.precision))
        # What sigma^2 is on average; where next to nothing is known about it, the average has no meaning any more.
        square = np.exp(2 * min(log_sigma + min(of_log_sigma, _UNKNOWN), _HIGHEST))
        wide = np.sqrt(square + of_mu * classical_information(self.family)[0, 0])
        answer = (np.array([value]) for value in (y, *interval, mu, wide))
        log_p, by_mu, by_wide = self.mechanism.evaluate(self.family, *answer)[0]
        if not np.isfinite(log_p):
            raise ImpossibleAnswerError.of(y)
        # d wide / d log sigma = E[sigma^2] / wide
        slopes = np.array([1.0, square / wide])
        ends = (np.array([(end - mu) / wide]) for end in interval)
        information = information_of(self.family, self.mechanism, *ends)[0] / wide**2 * np.outer(slopes, slopes)
        precision = state.precision + information
        point = state.point + np.linalg.solve(precision, slopes * [by_mu, by_wide])
        point[1] = np.clip(point[1], np.log(SMALLEST_SIGMA), _HIGHEST)
        history = state.history.append(y, *interval)
        state = GradientState(point, precision, state.log_evidence + float(log_p), history)
        return state, Info(False, {}, 1, 1)

    def posterior(self, state):
        return NormalPosterior(state.point, np.linalg.inv(state.precision), self.particles, state.log_evidence)

    def restored(self, values, history):
        state = super().restored(values, history)
        check_array("point", state.point, (2,))
        check_array("precision", state.precision, (2, 2))
        if not np.log(SMALLEST_SIGMA) <= state.point[1] <= _HIGHEST:
            raise ValueError("log sigma must lie in its range")
        np.linalg.cholesky(state.precision)  # raises unless it is positive definite
        if not np.allclose(state.precision, state.precision.T):
            raise ValueError("precision must be symmetric")
        return state._replace(log_evidence=finite("log_evidence", state.log_evidence))


class NormalPosterior(Posterior):
    """(mu, log sigma) ~ N(point, covariance): moments and quantiles are exact, particles are made when asked for."""

    def __init__(self, point: np.ndarray, covariance: np.ndarray, particles: int, log_evidence: float) -> None:
        self._point, self._covariance, self._size = point, covariance, particles
        self.log_evidence = log_evidence

    @cached_property
    def particles(self) -> np.ndarray:
        even = (0.5 + np.arange(1, self._size + 1)[:, None] * _STEPS) % 1.0
        cloud = self._place(ndtri(np.clip(even, 1e-9, 1 - 1e-9)))
        cloud.flags.writeable = False
        return cloud

    @cached_property
    def weights(self) -> np.ndarray:
        even = np.full(self._size, 1 / self._size)
        even.flags.writeable = False
        return even

    @cached_property
    def _moments(self):
        (mu, log_sigma), variances = self._point, np.diag(self._covariance)
        mean = np.exp(min(log_sigma + variances[1] / 2, _HIGHEST))
        log_ratio = 0.5 * (variances[1] + np.log(-np.expm1(-variances[1])))  # of the standard deviation to the mean
        sd = np.exp(min(np.log(mean) + log_ratio, _HIGHEST))
        return np.array([mu, mean]), np.array([np.sqrt(variances[0]), sd]), float(self._size)

    def _quantiles(self, q, column, out):
        values = self._point[column] + np.sqrt(self._covariance[column, column]) * ndtri(q)
        out[:] = values if column == 0 else np.exp(np.clip(values, -_HIGHEST, _HIGHEST))

    def pick(self, uniform):
        # One uniform number has enough digits for two: the first ones place mu, the rest sigma given mu.
        digits = 2.0**20
        rest = (uniform * digits) % 1.0
        ends = 2.0**-33
        normal = ndtri(np.clip([uniform, rest], ends, 1 - ends))
        mu, sigma = self._place(normal[None])[0]
        return float(mu), float(sigma)

    def _place(self, normal: np.ndarray) -> np.ndarray:
        """(mu, sigma) of pairs of standard normal numbers."""
        points = self._point + normal @ np.linalg.cholesky(self._covariance).T
        points[:, 1] = np.exp(np.clip(points[:, 1], np.log(SMALLEST_SIGMA), _HIGHEST))
        return points
