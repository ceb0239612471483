"""What an individual releases when asked for an interval: one file a mechanism, with all that is particular to it."""

from explorer.engine.mechanisms.gaussian import GaussianMechanism
from explorer.engine.mechanisms.interval import Interval
from explorer.engine.mechanisms.laplace import LaplaceMechanism
from explorer.engine.mechanisms.mechanism import DEFAULT_DELTA, MECHANISMS, Mechanism, Privacy, mechanism, register
from explorer.engine.mechanisms.piecewise import Piecewise
from explorer.engine.mechanisms.randomized_response import RandomizedResponse

MECHANISMS.put_first("laplace", "gaussian", "randomized_response", "piecewise")

__all__ = [
    "DEFAULT_DELTA",
    "MECHANISMS",
    "GaussianMechanism",
    "Interval",
    "LaplaceMechanism",
    "Mechanism",
    "Piecewise",
    "Privacy",
    "RandomizedResponse",
    "mechanism",
    "register",
]
