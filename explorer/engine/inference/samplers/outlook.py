"""Where else the posterior may be: a look around near the intervals that were asked for.

Answers tell parameters apart only where people were asked: far from every interval the likelihood does not depend on mu
at all. So whatever a cloud of particles has overlooked lies near an interval, or where the prior is; or, where there is
little noise, near the answers. ``Outlook`` looks at some dozen points there and climbs from the best of them. What it
finds is compared with the evidence that the particles have counted, in two ways:

- The posterior's mass around a point is about its height times the area on which it is so high, by the Fisher
  information of the answers. If this exceeds the evidence, the particles have *probably* overlooked something: a reason
  to start again, and to measure what was found.
- No private answer tells more than the value itself, so the area is at least what it would be if all values were known.
  If even this much exceeds the evidence, they have overlooked it for *certain*.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np
from scipy.special import logsumexp

from explorer.engine.inference.history import History
from explorer.engine.inference.priors import LARGEST_SIGMA, Prior
from explorer.engine.information import classical_information, information_of
from explorer.engine.mechanisms import Mechanism
from explorer.engine.population import Family

#: So many intervals stand for all that were asked: those far apart for where to look, those spread over time for what
#: an answer tells; and so many answers for all that were given.
_PLACES_ASKED, _TIMES_ASKED, _ANSWERS = 3, 4, 8
#: Places of mu beside an interval's midpoint, in units of its width and of sigma, and sizes of sigma in units of the
#: width and as quantiles of the prior.
_BY_WIDTH, _BY_SIGMA = np.array([-0.4, 0.0, 0.4]), np.array([-1.0, 1.0])
_SIZES, _LEVELS = np.log([0.01, 0.1, 0.5, 4.0]), np.array([0.05, 0.5, 0.95])
#: Sizes of sigma where the answers are, in units of their standard deviation.
_BY_ANSWERS = np.array([-1.0, -0.5, 0.0, 0.5])
#: The climb: so many times, so many steps in all directions.
_ROUNDS, _DIRECTIONS = 2, 12
#: Logarithms of the factors by which a mass must exceed the evidence to be overlooked, probably and for certain.
_PROBABLY, _CERTAINLY = 1.5, 3.0
#: The first of these where the same question is asked again, so that only answers tell what was overlooked.
_PROBABLY_REPEATED = 0.7
#: If the best point falls short by more than this, as a logarithm, nobody climbs from it.
_HOPELESS = 30.0
#: What a new start draws from: the prior; points near the intervals with sigmas like their width or like the prior's;
#: points near one answer with sigmas like the prior's; points where all answers are. As Student variables, with these
#: spreads in log sigma.
_SHARES = np.log([0.3, 0.25, 0.25, 0.1, 0.1])
_SPREAD, _ANSWERS_SPREAD = 2.0, 1.0


def next_look(answers: int) -> int:
    """After 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, ..., 128 answers, and then 192, 256, 384, ...: the next of these.

    Between two looks the evidence for what was overlooked must not grow too far: at first it grows fast.
    """
    if answers < 4:
        return 4
    octave = 1 << (answers.bit_length() - 1)
    step = max(octave // 4 if octave < 128 else octave // 2, 1)
    return octave + step * ((answers - octave) // step + 1)


def is_rare_look(answers: int) -> bool:
    """Whether it is one of 4, 6, 8, 12, 16, 24, ...: the others come only where the same question is asked again."""
    return answers & (answers - 1) == 0 or (answers % 3 == 0 and (answers // 3) & (answers // 3 - 1) == 0)


class Outlook:
    """What the answers say about parameters that no particle may be near to.

    ``log_posterior(points, history)`` is prior times likelihood in (mu, log sigma).
    """

    def __init__(
        self, history: History, family: Family, mechanism: Mechanism, prior: Prior, log_posterior: Callable
    ) -> None:
        self._history, self._family, self._mechanism, self._prior = history, family, mechanism, prior
        self._log_posterior = lambda points: _numbers(log_posterior(points, history))
        _, left, right = history.arrays
        order = np.argsort(left + (right - left) / 2, kind="stable")
        chosen = order[np.unique(np.linspace(0, order.size - 1, _PLACES_ASKED).astype(int))]
        width = right[chosen] - left[chosen]
        self._middle, self._width = np.unique(np.stack([left[chosen] + width / 2, width], axis=1), axis=0).T
        self._answers = self._places_of_answers()
        self._centre, self._sd = self._answers.mean(), self._answers.std()
        if not self._sd > 0:
            self._sd = self._width[0]
        mu, sigma = prior.quantile(np.array([0.16, 0.84]), np.array([0.16, 0.84]))
        self._prior_sds = np.maximum([mu[1] - mu[0], np.log(sigma[1] / sigma[0])], 1e-300) / 2
        self._look()

    def _places_of_answers(self) -> np.ndarray:
        """Some answers, rising, each clipped to its interval; the midpoints of intervals if answers are no places."""
        if self._mechanism.answers is not None:
            return self._middle
        y = np.sort(np.clip(*self._history.arrays))
        return y[np.unique(np.linspace(0, y.size - 1, _ANSWERS).astype(int))]

    def suggests_more_than(self, log_evidence: float) -> bool:
        """Whether the posterior around the best point found probably weighs more than this."""
        if log_evidence + _CERTAINLY - _HOPELESS < self._least < log_evidence + _CERTAINLY:
            self._climb()
        probably = _PROBABLY_REPEATED if self._history.repeats else _PROBABLY
        return self.proves_more_than(log_evidence) or self._log_mass > log_evidence + probably

    def proves_more_than(self, log_evidence: float) -> bool:
        """Whether the posterior around the best point found weighs far more than this, for certain."""
        return self._least > log_evidence + _CERTAINLY

    def _look(self) -> None:
        """Find the best of some dozen points."""
        _, sigma = self._prior.quantile(_LEVELS, _LEVELS)
        points = []
        for middle, width in zip(self._middle, self._width, strict=True):
            log_sigma = self._inside(np.append(np.log(width) + _SIZES, np.log(sigma)))
            column = log_sigma[:, None]
            beside = np.append(width * _BY_WIDTH + 0 * column, np.exp(column) * _BY_SIGMA, axis=1)
            points.append(np.stack([middle + beside, np.broadcast_to(column, beside.shape)], axis=-1))
        # All answers alike, only those of two neighbours, or only one of them.
        log_sd = np.log(self._sd) + _BY_ANSWERS
        points.append(np.stack([np.full(log_sd.size, self._centre), self._inside(log_sd)], axis=1))
        gaps = np.diff(self._answers)
        between = self._answers[:-1][gaps > 0] + gaps[gaps > 0] / 2
        points.append(np.stack([between, self._inside(np.log(gaps[gaps > 0] / 2))], axis=1))
        points.append(np.stack(np.meshgrid(self._answers, self._inside(np.log(sigma))), axis=-1))
        points = np.concatenate([some.reshape(-1, 2) for some in points])
        found = self._least_masses(points)
        best = int(np.argmax(found))
        self._point, self._least = points[best], float(found[best])

    def _climb(self) -> None:
        """Go up from the best point, by steps in units of sigma for mu, half of which are shorter than the others."""
        turns = 2 * np.pi * np.arange(_DIRECTIONS) / _DIRECTIONS
        lengths = np.where(np.arange(_DIRECTIONS) % 2, 1.0, 0.3)
        steps = np.stack([np.cos(turns), np.sin(turns)], axis=1) * lengths[:, None]
        reach = 0.5
        for _ in range(_ROUNDS):
            around = self._point + reach * steps * [np.exp(self._point[1]), 1.0]
            around[:, 1] = self._inside(around[:, 1])
            found = self._least_masses(around)
            best = int(np.argmax(found))
            if found[best] > self._least:
                self._point, self._least = around[best], float(found[best])
            else:
                reach /= 3

    def _least_masses(self, points: np.ndarray) -> np.ndarray:
        """The logarithms of the posterior's height times the least area on which it is so high."""
        known = np.diag(classical_information(self._family))
        precision = len(self._history) * known * np.stack([np.exp(-2 * points[:, 1]), np.ones(len(points))], axis=1)
        precision += self._prior_sds**-2.0
        return self._log_posterior(points) + np.log(2 * np.pi) - 0.5 * np.log(precision).sum(axis=1)

    @cached_property
    def _log_mass(self) -> float:
        """The logarithm of the height at the best point times the area by the information of the answers."""
        mu, sigma = self._point[0], np.exp(self._point[1])
        _, left, right = self._history.arrays
        some = np.unique(np.linspace(0, left.size - 1, _TIMES_ASKED).astype(int))
        ends = ((side[some] - mu) / sigma for side in (left, right))
        information = information_of(self._family, self._mechanism, *ends)
        scale = np.array([1 / sigma, 1.0])  # from (mu, sigma) at sigma = 1 to (mu, log sigma)
        precision = left.size * information.mean(axis=0) * np.outer(scale, scale) + np.diag(self._prior_sds**-2.0)
        height = float(self._log_posterior(self._point[None])[0])
        return height + float(np.log(2 * np.pi) - 0.5 * np.linalg.slogdet(precision)[1])

    def draw(self, rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Points to start again from, and the logarithms of their density: near the intervals, and from the prior."""
        points = self._prior.sample(rng, size)
        points[:, 1] = np.log(points[:, 1])
        kind = np.searchsorted(np.cumsum(np.exp(_SHARES)), rng.random(size))
        at, answer = rng.integers(self._middle.size, size=size), rng.integers(self._answers.size, size=size)
        u, v = rng.standard_t(3, (2, size))
        like_width, at_answer, like_answers = kind == 1, kind == 3, kind >= 4
        usual, spread = self._usual_sigma
        log_sigma = np.where(like_width, np.log(self._width[at]) - 1 + _SPREAD * v, usual + spread * v)
        log_sigma = np.where(like_answers, np.log(self._sd) + _ANSWERS_SPREAD * v, log_sigma)
        log_sigma = self._inside(log_sigma)
        reach = np.where(like_width, self._width[at], np.where(like_answers, self._sd, 2 * np.exp(log_sigma)))
        centre = np.where(like_answers, self._centre, np.where(at_answer, self._answers[answer], self._middle[at]))
        near = kind >= 1
        points[near] = np.stack([centre + reach * u, log_sigma], axis=1)[near]
        return points, self.log_density(points)

    def log_density(self, points: np.ndarray) -> np.ndarray:
        """The density from which ``draw`` draws."""
        prior = self._prior.log_density(points[:, 0], np.exp(points[:, 1])) + points[:, 1]
        away, log_sigma = points[:, :1] - self._middle, points[:, 1:]
        like_width = _log_student(away, self._width) + _log_student(log_sigma - np.log(self._width) + 1, _SPREAD)
        usual, spread = self._usual_sigma
        reach, usual_size = 2 * np.exp(log_sigma), _log_student(log_sigma - usual, spread)
        like_prior = _log_student(away, reach) + usual_size
        at_answer = _log_student(points[:, :1] - self._answers, reach) + usual_size
        near = (logsumexp(part, axis=1) - np.log(part.shape[1]) for part in (like_width, like_prior, at_answer))
        like_answers = _log_student(points[:, 0] - self._centre, self._sd)
        like_answers += _log_student(points[:, 1] - np.log(self._sd), _ANSWERS_SPREAD)
        return logsumexp(np.stack([prior, *near, like_answers]) + _SHARES[:, None], axis=0)

    @cached_property
    def _usual_sigma(self) -> tuple[float, float]:
        """The middle and twice the spread of the prior's log sigma."""
        return float(np.log(self._prior.quantile(0.5, 0.5)[1])), float(2 * self._prior_sds[1])

    @staticmethod
    def _inside(log_sigma: np.ndarray) -> np.ndarray:
        most = np.log(LARGEST_SIGMA) * (1 - 1e-9)
        return np.clip(log_sigma, -most, most)


def _numbers(logs: np.ndarray) -> np.ndarray:
    """What is not a number explains nothing."""
    return np.where(logs < np.inf, logs, -np.inf)


def _log_student(x: np.ndarray, scale) -> np.ndarray:
    """The log-density of Student's t with three degrees of freedom, times ``scale``."""
    return np.log(2 / (np.pi * np.sqrt(3))) - np.log(scale) - 2 * np.log1p((x / scale) ** 2 / 3)
