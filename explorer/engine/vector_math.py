"""``exp`` and ``erfcx`` as plain arithmetic, which the compiler turns into vector instructions.

The C library's functions are calls, and a loop that makes a call is not vectorised. These are
polynomials, accurate to 1e-14; they are inlined into the loop that uses them.
"""

import math

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from scipy import special

from explorer.engine.compiled import inlined

# erfcx on [0, inf): (1 + 2x) erfcx(x) is a polynomial in (x - PIVOT)/(x + PIVOT), to 1e-14.
_PIVOT = 3.5
_DEGREE = 20


def _fit_erfcx() -> np.ndarray:
    def target(t):
        x = _PIVOT * (1 + t) / (1 - t)
        return (1 + 2 * x) * special.erfcx(x)

    series = np.polynomial.chebyshev.chebinterpolate(target, _DEGREE)
    return np.polynomial.chebyshev.cheb2poly(series)


_ERFCX = _fit_erfcx()
_EXP = np.array([1 / math.factorial(k) for k in range(13)])
_LOG2_E = 1 / math.log(2)
_LN2_HIGH = 0.693145751953125  # ln 2 with its low bits cut off, so that n * _LN2_HIGH is exact
_LN2_LOW = 1.42860682030941723212e-6
_ROUND = 6755399441055744.0  # 1.5 * 2**52: adding it leaves the nearest whole number in the low bits


@intrinsic
def _as_integer(typing_context, value):
    def codegen(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), codegen


@intrinsic
def _as_float(typing_context, value):
    def codegen(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), codegen


@inlined
def exp_negative(x):
    """``e**x`` for x <= 0; what would underflow is 1e-307."""
    x = max(x, -707.0)
    shifted = x * _LOG2_E + _ROUND
    n = shifted - _ROUND
    r = (x - n * _LN2_HIGH) - n * _LN2_LOW
    p = _EXP[-1]
    for k in range(_EXP.size - 2, -1, -1):  # unrolled by the compiler
        p = p * r + _EXP[k]
    return p * _as_float((_as_integer(shifted) + 1023) << 52)


@inlined
def half_erfcx(x):
    """``erfcx(x / sqrt 2) / 2`` for x >= 0."""
    x = x * math.sqrt(0.5)
    inverse = 1.0 / ((x + _PIVOT) * (1 + 2 * x))
    t = (x - _PIVOT) * (1 + 2 * x) * inverse
    p = _ERFCX[-1]
    for k in range(_ERFCX.size - 2, -1, -1):
        p = p * t + _ERFCX[k]
    return 0.5 * p * (x + _PIVOT) * inverse
