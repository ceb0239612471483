"""Uniform numbers strictly inside (0, 1): the raw material of every draw by inversion."""

import numpy as np


def open_uniform(rng: np.random.Generator, size=None):
    """Uniform draws that are never 0 or 1, whose quantiles would be infinite.

    ``Generator.random`` gives multiples of 2**-53 from 0 on; half a step moves them off zero
    and, in the last cell alone, rounds to 1, which is moved back by one step.
    """
    return np.minimum(rng.random(size) + 2.0**-54, 1 - 2.0**-53)
