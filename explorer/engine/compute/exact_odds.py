"""Odds as a ratio of whole numbers that is never above e^epsilon: what exact draws are made of."""

from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from functools import lru_cache

#: Odds are a ratio of whole numbers: ``odds(epsilon)`` to this one.
UNIT = 1 << 64
_EXACT = Context(prec=120, rounding=ROUND_HALF_EVEN, Emin=-999_999, Emax=999_999, capitals=1, clamp=0, traps=[])


@lru_cache(maxsize=64)
def odds(epsilon: float) -> int:
    """The largest whole number whose ratio to ``2**64`` is at most e^epsilon, or e^700 if that is less.

    Beyond that a lie has probability 1e-304 at most, and longer numbers would only take longer.
    """
    epsilon = min(epsilon, 700.0)
    # Every step in this context: the caller's own may have fewer digits, other limits, or traps.
    exact = _EXACT.multiply(_EXACT.exp(Decimal(epsilon)), Decimal(UNIT))
    # 120 digits are correct: a hundred of them are more than enough to be sure of the floor.
    below = _EXACT.multiply(exact, _EXACT.subtract(Decimal(1), Decimal((0, (1,), -100))))
    floor = int(below.to_integral_value(ROUND_FLOOR, context=_EXACT))
    if _EXACT.ln(_EXACT.divide(Decimal(floor), Decimal(UNIT))) > Decimal(epsilon):
        raise AssertionError(f"odds above e^{epsilon!r}")
    return floor
