"""Noise for real answers: from the operating system's randomness, safe in floating point, and impossible to seed.

    y = ex.mechanism("laplace", epsilon=1.0).release(x, interval, ex.secure)

A seeded generator can be run again by whoever knows the seed. ``secure`` stands where one would, and lets each
mechanism draw in its own safe way (``Mechanism.secure_draw``): Laplace and Gaussian noise by OpenDP, the others by
exact integer arithmetic, from a finite number of equally likely tickets, with odds that are never above e^epsilon.

Each release checks the privacy that it gives before it draws, and nothing here falls back to anything else.
"""

import numpy as np

from explorer.engine.mechanisms import Interval, Mechanism


class Secure:
    """Stands where a generator would: ``release(x, interval, secure)``."""

    def __repr__(self) -> str:
        return "secure"

    def release(self, mechanism: Mechanism, x: np.ndarray, interval: Interval) -> np.ndarray:
        """One answer for each value, all of which are finite."""
        draw = mechanism.secure_draw(interval)
        return np.array([draw(value) for value in x.ravel().tolist()], dtype=float).reshape(x.shape)


secure = Secure()
