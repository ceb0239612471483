"""Fisher information of one private answer: scores, surfaces, the best interval, the best of all mechanisms, plans."""

from explorer.engine.information.fisher import classical_information, fisher_information, information_of
from explorer.engine.information.ldp_bound import LdpBest, best_ldp
from explorer.engine.information.monte_carlo import MonteCarloInformation, monte_carlo_information
from explorer.engine.information.optimum import BestInterval, NoBestIntervalError, best_interval, best_near
from explorer.engine.information.planner import Option, plan
from explorer.engine.information.scores import SCORES, Score, score_function
from explorer.engine.information.surface import Surface, score_surface

__all__ = [
    "SCORES",
    "BestInterval",
    "LdpBest",
    "MonteCarloInformation",
    "NoBestIntervalError",
    "Option",
    "Score",
    "Surface",
    "best_interval",
    "best_ldp",
    "best_near",
    "classical_information",
    "fisher_information",
    "information_of",
    "monte_carlo_information",
    "plan",
    "score_function",
    "score_surface",
]
