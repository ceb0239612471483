"""An independent truth: the model written down again in mpmath, at 50 digits, straight from its definition.

Nothing here shares a formula, a substitution or a constant with the engine: densities come from
textbook expressions, the integral over the sensitive value is adaptive quadrature, and derivatives
are mpmath's numerical ones.
"""

from itertools import pairwise

import mpmath as mp
import numpy as np

mp.mp.dps = 50


def _incomplete_beta_tail(z, df):
    return mp.betainc(df / 2, mp.mpf(1) / 2, 0, df / (df + z * z), regularized=True) / 2


PDF = {
    "normal": lambda z, df: mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi),
    "student_t": lambda z, df: (
        mp.gamma((df + 1) / 2) / mp.gamma(df / 2) / mp.sqrt(df * mp.pi) * (1 + z * z / df) ** (-(df + 1) / 2)
    ),
    "logistic": lambda z, df: mp.exp(-abs(z)) / (1 + mp.exp(-abs(z))) ** 2,
    "laplace": lambda z, df: mp.exp(-abs(z)) / 2,
    "gumbel": lambda z, df: mp.exp(-z - mp.exp(-z)),
}
CDF = {
    "normal": lambda z, df: mp.erfc(-z / mp.sqrt(2)) / 2,
    "student_t": lambda z, df: _incomplete_beta_tail(z, df) if z < 0 else 1 - _incomplete_beta_tail(z, df),
    "logistic": lambda z, df: 1 / (1 + mp.exp(-z)),
    "laplace": lambda z, df: mp.exp(z) / 2 if z < 0 else 1 - mp.exp(-z) / 2,
    "gumbel": lambda z, df: mp.exp(-mp.exp(-z)),
}
SF = {
    **{name: (lambda z, df, cdf=CDF[name]: cdf(-z, df)) for name in ("normal", "student_t", "logistic", "laplace")},
    "gumbel": lambda z, df: -mp.expm1(-mp.exp(-z)),
}


def log_likelihood(family, df, mechanism, constant, y, mu, sigma, left, right):
    """``log p(y | mu, sigma)``; ``constant`` is epsilon, or the noise ratio of the Gaussian mechanism."""
    df, constant, y, mu, sigma, left, right = map(mp.mpf, (df, constant, y, mu, sigma, left, right))
    width = right - left

    def pdf(z):
        return PDF[family](z, df)

    def cdf(z):
        return CDF[family](z, df)

    def sf(z):
        return SF[family](z, df)

    alpha, beta = (left - mu) / sigma, (right - mu) / sigma
    if mechanism == "randomized_response":
        z = ((left + right) / 2 - mu) / sigma
        truth = 1 / (1 + mp.exp(-constant))
        above = sf(z)
        return mp.log(truth * above + (1 - truth) * cdf(z) if y > 0 else truth * cdf(z) + (1 - truth) * above)
    if mechanism == "piecewise":
        return mp.log(_piecewise_density(pdf, cdf, sf, constant, y, mu, sigma, left, right))

    if mechanism == "laplace":
        scale = width / constant

        def noise(x):
            return mp.exp(-abs(y - x) / scale) / (2 * scale)
    else:
        scale = width * constant

        def noise(x):
            return mp.exp(-(((y - x) / scale) ** 2) / 2) / (scale * mp.sqrt(2 * mp.pi))

    atoms = cdf(alpha) * noise(left) + sf(beta) * noise(right)
    inside = integrate(lambda z: pdf(z) * noise(mu + sigma * z), alpha, beta, atoms, (y - mu) / sigma, scale / sigma)
    return mp.log(atoms + inside)


def _piecewise_density(pdf, cdf, sf, epsilon, y, mu, sigma, left, right):
    e = mp.exp(epsilon / 2)
    c = (e + 1) / (e - 1)
    half = (right - left) / 2
    v = (y - (left + right) / 2) / half
    inside = (mp.exp(epsilon) - e) / (2 * e + 2)
    outside = inside / mp.exp(epsilon)
    # t = the clipped value in [-1, 1]; its window is [w(t), w(t) + c - 1] with w(t) = (c+1)/2 t - (c-1)/2
    low, high = (2 * v - (c - 1)) / (c + 1), (2 * v + (c - 1)) / (c + 1)

    def z(t):
        return ((left + right) / 2 + half * t - mu) / sigma

    probability = mp.mpf(0)
    if y <= left:  # v <= -1, without the rounding of v
        probability += cdf(z(-1))
    if y >= right:
        probability += sf(z(1))
    low, high = max(low, -1), min(high, 1)
    if low < high:
        probability += integrate(pdf, z(low), z(high), probability)
    return (outside + (inside - outside) * probability) / half


def integrate(f, low, high, beside=0, centre=None, scale=None):
    """Adaptive Gauss-Legendre quadrature, first cut where any of our densities turns.

    To 18 digits of the result together with ``beside``, which it will be added to.
    """
    steps = [mp.mpf(k) for k in (0, 1, 3, 10, 30)] + [mp.mpf(10) ** k for k in range(2, 9)]
    cuts = {low, high}
    for at, unit in ((mp.mpf(0), mp.mpf(1)), (centre, scale)):
        if at is not None:
            cuts |= {at + sign * unit * k for k in steps for sign in (-1, 1)}
    cuts = sorted(c for c in cuts if low <= c <= high)
    panels = [(a, b, _gauss(f, a, b)) for a, b in pairwise(cuts)]
    total, rough = mp.mpf(0), mp.fsum(value for *_, value in panels)
    while panels:
        a, b, whole = panels.pop()
        middle = (a + b) / 2
        halves = _gauss(f, a, middle), _gauss(f, middle, b)
        rough += sum(halves) - whole
        if abs(sum(halves) - whole) <= mp.mpf(10) ** -18 * (abs(rough) + beside):
            total += sum(halves)
        else:
            panels += [(a, middle, halves[0]), (middle, b, halves[1])]
    return total


def _legendre_rule(n):
    with mp.workdps(60):
        guesses = np.polynomial.legendre.leggauss(n)[0]
        nodes = [mp.findroot(lambda x: mp.legendre(n, x), mp.mpf(float(guess))) for guess in guesses]
        slopes = [mp.diff(lambda x: mp.legendre(n, x), x) for x in nodes]
        return [(x, 2 / ((1 - x * x) * d * d)) for x, d in zip(nodes, slopes, strict=True)]


_RULE = _legendre_rule(20)


def _gauss(f, a, b):
    half, middle = (b - a) / 2, (a + b) / 2
    return half * mp.fsum(w * f(middle + half * x) for x, w in _RULE)
