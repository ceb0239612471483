"""Before anybody is asked: which mechanism, how little privacy, how many people?

Everything follows from the exact Fisher information F about mu, with sigma unknown. n answers to the best interval of a
mechanism know mu to ``sigma / sqrt(n F)``, so a wanted standard error is a wanted F, and F grows with epsilon.

    >>> for option in plan(standard_error=0.1, sigma=3.0, epsilon=2.0, mechanisms=["laplace", "piecewise"]):
    ...     print(option.mechanism, option.n)
    piecewise 2631
    laplace 3147

It is what many answers reach once the interval has found its place: a run of a few hundred also pays for the search.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from explorer.engine.compute.arguments import one_of, positive, whole
from explorer.engine.information.fisher import classical_information
from explorer.engine.information.optimum import NoBestIntervalError, best_interval
from explorer.engine.mechanisms import DEFAULT_DELTA, MECHANISMS, mechanism as find_mechanism
from explorer.engine.population import Family, family as find_family

#: Among these levels of privacy the smallest is looked for.
SMALLEST_EPSILON, LARGEST_EPSILON = 0.01, 20.0
#: No standard error is planned that is smaller than sigma by more than this factor.
MOST_EXACT = 1e8
#: What n answers know of mu, if sigma has to be learned too.
PLANNED_SCORE = "mu|sigma"
#: Epsilon is found to this share of itself.
_PRECISION = 1e-4


class Option(NamedTuple):
    """One way to get there: with this mechanism, epsilon and n, and the interval [mu + a sigma, mu + b sigma]."""

    mechanism: str
    epsilon: float
    n: int
    standard_error: float
    a: float
    b: float


def plan(
    standard_error: float,
    sigma: float,
    *,
    n: int | None = None,
    epsilon: float | None = None,
    mechanisms: Sequence[str] | None = None,
    family: str | Family = "normal",
    delta: float = DEFAULT_DELTA,
) -> list[Option]:
    """How to know mu to ``standard_error`` in a population whose sigma is about this, the best way first.

    Give ``n``, the people there are: the smallest epsilon for each mechanism, the most private one first. Or give
    ``epsilon``: the fewest people for each, the one with the fewest first. A mechanism that cannot do it is left out;
    ``mechanisms`` are all that there are, if None.
    """
    error, sigma = positive("standard_error", standard_error), positive("sigma", sigma)
    if not sigma / error <= MOST_EXACT:
        raise ValueError(
            f"standard_error must be at least {1 / MOST_EXACT:g} sigma, got {error:g} with sigma={sigma:g}"
        )
    if (n is None) == (epsilon is None):
        raise ValueError("give either n or epsilon: the other one is what is planned")
    population, names = (
        find_family(family),
        [one_of("mechanism", name, MECHANISMS) for name in mechanisms or MECHANISMS],
    )
    if epsilon is not None:
        epsilon = positive("epsilon", epsilon)
        options = (_with_epsilon(name, epsilon, error, sigma, population, delta) for name in names)
        return sorted((option for option in options if option is not None), key=lambda option: option.n)
    wanted = (sigma / error) ** 2 / whole("n", n, 1)
    without_privacy = float(classical_information(population)[0, 0])
    if wanted >= without_privacy:
        enough = math.floor((sigma / error) ** 2 / without_privacy)
        raise ValueError(f"n must be above {enough} for this standard error even without privacy, got {n}")
    options = (_with_people(name, wanted, n, sigma, population, delta) for name in names)
    return sorted((option for option in options if option is not None), key=lambda option: option.epsilon)


def _best(name: str, epsilon: float, family: Family, delta: float):
    # About mu with sigma unknown. For a lopsided family an answer that tells of both at once is worth less.
    return best_interval(epsilon, family=family, mechanism=find_mechanism(name, epsilon, delta), score=PLANNED_SCORE)


def people(sigma: float, error: float, information: float) -> int:
    """How many are needed; a rounding error does not make one more."""
    return max(1, math.ceil((sigma / error) ** 2 / information * (1 - 1e-12)))


def _with_epsilon(name: str, epsilon: float, error: float, sigma: float, family: Family, delta: float) -> Option | None:
    if epsilon > MECHANISMS[name].largest_epsilon:
        return None
    try:
        best = _best(name, epsilon, family, delta)
    except NoBestIntervalError:
        return None
    needed = people(sigma, error, best.value)
    return Option(name, epsilon, needed, sigma / math.sqrt(needed * best.value), best.a, best.b)


def _with_people(name: str, wanted: float, n: int, sigma: float, family: Family, delta: float) -> Option | None:
    """The smallest epsilon whose information is enough, by halving; None if even the largest is not."""
    low, high = SMALLEST_EPSILON, LARGEST_EPSILON
    try:
        if _best(name, high, family, delta).value < wanted:
            return None
    except NoBestIntervalError:  # one yes or no cannot tell two numbers apart
        return None
    if _best(name, low, family, delta).value >= wanted:
        high = low
    while high > low * (1 + _PRECISION):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if _best(name, middle, family, delta).value >= wanted else (middle, high)
    best = _best(name, high, family, delta)
    return Option(name, high, n, sigma / math.sqrt(n * best.value), best.a, best.b)
