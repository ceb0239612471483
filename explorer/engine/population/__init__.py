"""The population P_theta that individuals come from: location-scale families, one file each."""

from explorer.engine.population.family import FAMILIES, Family, family, register
from explorer.engine.population.gumbel import Gumbel
from explorer.engine.population.laplace import Laplace
from explorer.engine.population.logistic import Logistic
from explorer.engine.population.normal import Normal
from explorer.engine.population.student_t import StudentT

FAMILIES.put_first("normal", "student_t", "logistic", "laplace", "gumbel")

__all__ = ["FAMILIES", "Family", "Gumbel", "Laplace", "Logistic", "Normal", "StudentT", "family", "register"]
