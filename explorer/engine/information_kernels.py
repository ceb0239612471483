"""Compiled quadrature of the Fisher information ``F = int (dp)(dp)^T / p dy``, at mu = 0, sigma = 1.

One kernel a mechanism, each over many intervals ``[a, b]``, shape (n, 3) for (mu,mu), (mu,sigma) and
(sigma,sigma). They use the structure of the whole integral and not the one-answer kernel: all answers
to one interval share the density at the same nodes. That is ten times faster and makes the two check
each other.
"""

import math

import numpy as np

from explorer.engine.compiled import call, kernel
from explorer.engine.kernels import point, window_mass
from explorer.engine.quadrature import NODES, RUNNING, WEIGHTS
from explorer.engine.vector_math import exp_negative

_SIZE = NODES.size
#: Normal noise is followed this many standard deviations beyond the interval.
_GAUSSIAN_REACH = 7.5
#: So many standard deviations away, the bell of normal noise is below all numbers.
_GAUSSIAN_END = 39.0
#: An answer with a density this small never occurs, and adds nothing.
_NEVER = 1e-290


@kernel
def _cuts(edges, fraction, origin, length, longest):
    """Cuts of [origin, origin + length], as offsets from its start, exact however short it is.

    They stand at the family's panels divided by ``fraction``, and no two are further apart than ``longest``.
    """
    cuts = [0.0]
    panel = np.searchsorted(edges, origin, side="right")
    while cuts[-1] < length:
        start, stop, limit = cuts[-1], length, longest
        if panel < edges.size:
            stop = min(stop, edges[panel] - origin)
            limit = min(longest, (edges[panel] - edges[max(panel - 1, 0)]) / fraction)
        panel += 1
        if stop <= start:
            continue
        pieces = max(1, math.ceil(min((stop - start) / limit, 1e5)))
        for piece in range(1, pieces):
            cuts.append(start + (stop - start) * piece / pieces)
        cuts.append(stop)
    return np.array(cuts)


@kernel
def laplace_information(logpdf, logcdf, logsf, slope, shape, norm, edges, epsilon, a, b):
    """The paper's mechanism: one-sided integrals run along the nodes in [a, b]; outside, the score is constant."""
    out = np.zeros((a.size, 3))
    for i in range(a.size):
        width = b[i] - a[i]
        scale = width / epsilon
        below, above = math.exp(call(logcdf, a[i], shape, norm)), math.exp(call(logsf, b[i], shape, norm))
        cuts = _cuts(edges, 2.0, a[i], width, 3 * scale)
        count = cuts.size - 1
        g = np.empty((count, _SIZE))
        left, left_z = np.empty((count, _SIZE)), np.empty((count, _SIZE))

        # left(y) = int_a^y g(x) e^{-(y-x)/scale} dx, left_z the same with x g(x); from piece to piece.
        carry, carry_z = 0.0, 0.0
        for piece in range(count):
            half = 0.5 * (cuts[piece + 1] - cuts[piece])
            rise, rise_z = np.empty(_SIZE), np.empty(_SIZE)
            for n in range(_SIZE):
                z = a[i] + cuts[piece] + half * (1 + NODES[n])
                g[piece, n] = half * math.exp(call(logpdf, z, shape, norm))
                rise[n] = g[piece, n] * math.exp(half * (1 + NODES[n]) / scale)
                rise_z[n] = rise[n] * z
            last, last_z = carry, carry_z
            for n in range(_SIZE):
                total, total_z = carry, carry_z
                for m in range(_SIZE):
                    total += RUNNING[n, m] * rise[m]
                    total_z += RUNNING[n, m] * rise_z[m]
                decay = math.exp(-half * (1 + NODES[n]) / scale)
                left[piece, n], left_z[piece, n] = decay * total, decay * total_z
                last += WEIGHTS[n] * rise[n]
                last_z += WEIGHTS[n] * rise_z[n]
            decay = math.exp(-2 * half / scale)
            carry, carry_z = decay * last, decay * last_z

        # All answers above b: mass scale * p(b), and the score of y = b.
        far = math.exp(-epsilon)
        p = below * far + above + carry
        weight = 0.5 / p if p > _NEVER else 0.0
        uu, uv, vv = weight * carry * carry, weight * carry * carry_z, weight * carry_z * carry_z

        # Back from b to a with right(y) = int_y^b g(x) e^{-(x-y)/scale} dx; now the answer's score is known.
        carry, carry_z = 0.0, 0.0
        for piece in range(count - 1, -1, -1):
            half = 0.5 * (cuts[piece + 1] - cuts[piece])
            rise, rise_z = np.empty(_SIZE), np.empty(_SIZE)
            for n in range(_SIZE):
                z = a[i] + cuts[piece] + half * (1 + NODES[n])
                rise[n] = g[piece, n] * math.exp(half * (1 - NODES[n]) / scale)
                rise_z[n] = rise[n] * z
            last, last_z = carry, carry_z
            for n in range(_SIZE):
                total, total_z = carry, carry_z
                for m in range(_SIZE):
                    total += (WEIGHTS[m] - RUNNING[n, m]) * rise[m]
                    total_z += (WEIGHTS[m] - RUNNING[n, m]) * rise_z[m]
                decay = math.exp(-half * (1 - NODES[n]) / scale)
                y = cuts[piece] + half * (1 + NODES[n])  # from a
                p = below * math.exp(-y / scale) + above * math.exp((y - width) / scale)
                p += left[piece, n] + decay * total
                by_mu, by_sigma = left[piece, n] - decay * total, left_z[piece, n] - decay * total_z
                weight = 0.5 * half * WEIGHTS[n] / (scale * p) if p > _NEVER else 0.0
                uu += weight * by_mu * by_mu
                uv += weight * by_mu * by_sigma
                vv += weight * by_sigma * by_sigma
                last += WEIGHTS[n] * rise[n]
                last_z += WEIGHTS[n] * rise_z[n]
            decay = math.exp(-2 * half / scale)
            carry, carry_z = decay * last, decay * last_z

        # All answers below a.
        p = below + above * far + carry
        weight = 0.5 / p if p > _NEVER else 0.0
        square = scale * scale
        out[i, 0] = (uu + weight * carry * carry) / square
        out[i, 1] = (uv + weight * carry * carry_z) / square
        out[i, 2] = (vv + weight * carry_z * carry_z) / square
    return out


@kernel
def gaussian_information(logpdf, logcdf, logsf, slope, shape, norm, edges, inverse_ratio, a, b):
    """Normal noise: every node of the density adds to every node of the answers. All positions are offsets from a."""
    out = np.zeros((a.size, 3))
    for i in range(a.size):
        width = b[i] - a[i]
        scale = width / inverse_ratio
        cuts = _cuts(edges, 1.0, a[i], width, 3 * scale)
        steps = _answer_steps(width, scale)
        size = (steps.size - 1) * _SIZE
        y, weight, outside = np.empty(size), np.empty(size), np.empty(size)
        for step in range(steps.size - 1):
            half = 0.5 * (steps[step + 1] - steps[step])
            for n in range(_SIZE):
                k = step * _SIZE + n
                y[k] = steps[step] + half * (1 + NODES[n])
                weight[k] = half * WEIGHTS[n]
                # exponents are taken relative to that of the end of [a, b] nearest to y
                distance = max(max(-y[k], y[k] - width), 0.0) / scale
                outside[k] = 0.5 * distance * distance
        p, by_mu, by_sigma = np.zeros(size), np.zeros(size), np.zeros(size)
        _add_atom(p, y, outside, 0.0, math.exp(call(logcdf, a[i], shape, norm)), scale)
        _add_atom(p, y, outside, width, math.exp(call(logsf, b[i], shape, norm)), scale)
        for piece in range(cuts.size - 1):
            half = 0.5 * (cuts[piece + 1] - cuts[piece])
            for n in range(_SIZE):
                x = cuts[piece] + half * (1 + NODES[n])
                z = a[i] + x
                g = half * WEIGHTS[n] * math.exp(call(logpdf, z, shape, norm))
                # Beyond, the bell is below all numbers. An answer outside is as near as the end next to it.
                first = np.searchsorted(y, x - _GAUSSIAN_END * scale) if x > _GAUSSIAN_END * scale else 0
                last = np.searchsorted(y, x + _GAUSSIAN_END * scale) if x + _GAUSSIAN_END * scale < width else size
                for k in range(first, last):
                    distance = (y[k] - x) / scale
                    value = g * exp_negative(outside[k] - 0.5 * distance * distance)
                    p[k] += value
                    by_mu[k] += value * distance
                    by_sigma[k] += value * distance * z
        constant = 1 / (scale * math.sqrt(2 * math.pi) * scale * scale)
        for k in range(size):
            if p[k] > _NEVER:
                w = constant * weight[k] * math.exp(-outside[k]) / p[k]
                out[i, 0] += w * by_mu[k] * by_mu[k]
                out[i, 1] += w * by_mu[k] * by_sigma[k]
                out[i, 2] += w * by_sigma[k] * by_sigma[k]
    return out


@kernel
def _answer_steps(width, scale):
    """Where to cut the answers to [0, width] under normal noise.

    In y all is smooth on the noise's scale, but p has complex zeros next to the real line, where two parts of it are of
    the same size. Those of the two atoms are pi scale^2/width away. If the interval is so wide that nobody sees both,
    there are only those of an atom and of the values between: y/scale in place of width/scale, as far as one sees it.
    """
    reach, seen = _GAUSSIAN_REACH * scale, _GAUSSIAN_END * scale
    longest = scale * min(4.0, 6 * scale / (width if width <= 2 * seen else seen))
    if width <= 2 * seen:
        return np.linspace(-reach, width + reach, 1 + math.ceil((width + 2 * reach) / longest))
    pieces = math.ceil((reach + seen) / longest)
    return np.concatenate(
        (
            np.linspace(-reach, seen, 1 + pieces),
            np.linspace(seen, width - seen, 1 + math.ceil((width - 2 * seen) / (4 * scale)))[1:-1],
            np.linspace(width - seen, width + reach, 1 + pieces),
        )
    )


@kernel
def _add_atom(p, y, outside, x, mass, scale):
    for k in range(y.size):
        distance = (y[k] - x) / scale
        p[k] += mass * exp_negative(outside[k] - 0.5 * distance * distance)


@kernel
def sign_information(logpdf, logcdf, logsf, slope, shape, norm, edges, kind, constants, a, b):
    """Randomised response: a sum over the two answers."""
    out = np.zeros((a.size, 3))
    for i in range(a.size):
        for y in (-1.0, 1.0):
            log_p, by_mu, by_sigma = point(
                logpdf, logcdf, logsf, slope, shape, norm, edges, kind, constants, y, a[i], b[i], 0.0, 1.0
            )
            _add_square(out[i], math.exp(log_p), by_mu, by_sigma)
    return out


@kernel
def _add_square(out, weight, by_mu, by_sigma):
    out[0] += weight * by_mu * by_mu
    out[1] += weight * by_mu * by_sigma
    out[2] += weight * by_sigma * by_sigma


@kernel
def window_information(logpdf, logcdf, logsf, slope, shape, norm, edges, kind, constants, a, b):
    """Piecewise: the answers below a, inside and above b.

    Below a the upper end of the window that covers the answer runs from a to a + 2 radius, above b its lower end
    from b - 2 radius to b. Inside, the whole window runs from a to b, and the integral is cut where either of its
    ends passes a panel's edge. An answer moves by 1/(1 - shrink) for each step of its window.
    """
    out = np.zeros((a.size, 3))
    shrink, rest, outside, rise = constants
    for i in range(a.size):
        half_width = 0.5 * (b[i] - a[i])
        radius, inner = shrink * half_width, rest * half_width
        scale = 1 / (rest * half_width)
        for section in range(3):
            if section == 0:
                cuts = _cuts(edges, 2.0, a[i], 2 * radius, np.inf)
            elif section == 2:
                cuts = _cuts(edges, 2.0, b[i] - 2 * radius, 2 * radius, np.inf)
            else:
                lower = _cuts(edges, 2.0, a[i], 2 * inner, np.inf)
                upper = _cuts(edges, 2.0, a[i] + 2 * radius, 2 * inner, np.inf)
                cuts = np.sort(np.concatenate((lower, upper)))
            for piece in range(cuts.size - 1):
                half = 0.5 * (cuts[piece + 1] - cuts[piece])
                if half <= 0:
                    continue
                for n in range(_SIZE):
                    offset = cuts[piece] + half * (1 + NODES[n])
                    if section == 0:
                        end = a[i] + offset
                        chance, g = math.exp(call(logcdf, end, shape, norm)), math.exp(call(logpdf, end, shape, norm))
                        by_mu, by_sigma = -g, -g * end
                    elif section == 2:
                        end = b[i] - 2 * radius + offset
                        chance, g = math.exp(call(logsf, end, shape, norm)), math.exp(call(logpdf, end, shape, norm))
                        by_mu, by_sigma = g, g * end
                    else:
                        centre = a[i] + radius + offset
                        chance, by_mu, by_sigma = window_mass(
                            logpdf, logcdf, logsf, slope, shape, norm, edges, centre, radius
                        )
                    # p/rise; the score is of moderate size even where p and its derivatives are not
                    total = outside / rise + chance
                    weight = scale * half * WEIGHTS[n] * (rise * total)
                    if total > _NEVER:
                        _add_square(out[i], weight, by_mu / total, by_sigma / total)
    return out
