"""``exp``, ``log`` and ``erfcx`` as plain arithmetic, which the compiler turns into vector instructions.

The C library's functions are calls, and a loop that makes a call is not vectorised. These are
polynomials, accurate to 1e-13; they are inlined into the loop that uses them.
"""

import math

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from scipy import special

from explorer.engine.compute.compiled import inlined

# erfcx on [0, inf): (1 + 2x) erfcx(x) is a polynomial in (x - PIVOT)/(x + PIVOT), to 1e-13.
_PIVOT = 3.0
_DEGREE = 19


def _fit_erfcx() -> np.ndarray:
    def target(t):
        x = _PIVOT * (1 + t) / (1 - t)
        return (1 + 2 * x) * special.erfcx(x)

    series = np.polynomial.chebyshev.chebinterpolate(target, _DEGREE)
    return np.polynomial.chebyshev.cheb2poly(series)


@intrinsic
def _fused(typing_context, a, b, c):
    """``a * b + c`` with one rounding, always: so that every compilation gives the same digits."""

    def codegen(context, builder, signature, arguments):
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), codegen


def _polynomial(coefficients):
    """A function that evaluates this polynomial, as four interleaved ones in the fourth power.

    Each step of Horner's rule waits for the one before; four short chains keep the processor busy where one cannot.
    """
    table = np.zeros((-(-len(coefficients) // 4), 4))
    table.flat[: len(coefficients)] = coefficients
    top, rest = table[-1].copy(), table[-2::-1].copy()

    @inlined
    def evaluate(x):
        square = x * x
        fourth = square * square
        a, b, c, d = top[0], top[1], top[2], top[3]
        for k in range(rest.shape[0]):  # unrolled by the compiler
            a = _fused(a, fourth, rest[k, 0])
            b = _fused(b, fourth, rest[k, 1])
            c = _fused(c, fourth, rest[k, 2])
            d = _fused(d, fourth, rest[k, 3])
        return _fused(square, _fused(d, x, c), _fused(b, x, a))

    return evaluate


_half_erfcx = _polynomial(0.5 * _fit_erfcx())
_exp = _polynomial([1 / math.factorial(k) for k in range(12)])
_artanh = _polynomial([1 / (2 * k + 1) for k in range(11)])
_HALF_BITS = 0x3FE6A09E667F3BCD  # the bits of sqrt(1/2)
_MANTISSA = (1 << 52) - 1
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
    """``e**x`` for x <= 0; below -600 it stays at 1e-261, whose products are still normal numbers, which are fast."""
    x = max(x, -600.0)
    shifted = _fused(x, _LOG2_E, _ROUND)
    n = shifted - _ROUND
    r = _fused(-n, _LN2_LOW, _fused(-n, _LN2_HIGH, x))
    return _exp(r) * _as_float((_as_integer(shifted) + 1023) << 52)


@inlined
def log_positive(x):
    """``log(x)`` for a normal number above 0."""
    # x = m 2^n with m in [1/sqrt 2, sqrt 2), and log m = 2 artanh((m - 1)/(m + 1))
    bits = _as_integer(x) - _HALF_BITS
    n = bits >> 52
    m = _as_float((bits & _MANTISSA) + _HALF_BITS)
    t = (m - 1) / (m + 1)
    return n * _LN2_HIGH + (2 * t * _artanh(t * t) + n * _LN2_LOW)


@inlined
def half_erfcx(x):
    """``erfcx(x / sqrt 2) / 2`` for x >= 0."""
    x = x * math.sqrt(0.5)
    near, wide = x + _PIVOT, _fused(2.0, x, 1.0)
    inverse = 1.0 / (near * wide)
    t = (x - _PIVOT) * (wide * inverse)
    return _half_erfcx(t) * (near * inverse)


@inlined
def normal_cdf(t, bell):
    """``Phi(t)``; ``bell = exp(-t^2/2)``."""
    # Both arms are computed first: a choice between two finished numbers is one vector instruction.
    tail = half_erfcx(abs(t)) * bell
    rest = 1 - tail
    return tail if t < 0 else rest
