"""A mechanism, a family and a tab from one file each, in a folder of somebody's own: known everywhere at once."""

import json
import os
import subprocess
import sys

import pytest

MECHANISM = '''
"""Reports the clipped value's tenth of the interval, or any other tenth at random."""

import math

import numpy as np

from explorer.engine.mechanisms import Mechanism, register


@register
class Tenths(Mechanism):
    name = "tenths"
    label = "Tenths of the interval"
    answers = tuple(float(k) for k in range(10))

    def _truth(self):
        return math.exp(self.epsilon) / (math.exp(self.epsilon) + 9)

    def _tenth(self, x, interval):
        place = (interval.clip(x) - interval.left) / interval.width
        return np.minimum(np.floor(10 * place), 9.0)

    def _density(self, y, x, interval):
        return np.where(y == self._tenth(x, interval), self._truth(), (1 - self._truth()) / 9)

    def _quantile(self, u, x, interval):
        own = self._tenth(x, interval)
        weights = np.where(np.arange(10) == np.asarray(own)[..., None], self._truth(), (1 - self._truth()) / 9)
        below = np.cumsum(weights, axis=-1)
        return np.minimum((np.asarray(u)[..., None] > below).sum(axis=-1), 9).astype(float)

    def _support(self, interval):
        return 0.0, 9.0

    def kinks(self, y, interval):
        return np.tile(interval.left + interval.width * np.arange(1, 10) / 10, (np.size(y), 1))
'''

FAMILY = '''
"""The hyperbolic secant: tails between the normal's and the Laplace's."""

import math

import numpy as np

from explorer.engine.population import Family, register


@register
class Secant(Family):
    name = "secant"
    label = "Hyperbolic secant"

    @staticmethod
    def logpdf(z, shape, norm):
        t = 0.5 * math.pi * abs(z)
        return -t - math.log1p(math.exp(-2 * t))

    @staticmethod
    def logcdf(z, shape, norm):
        return math.log(2 / math.pi * math.atan(math.exp(0.5 * math.pi * z)))

    @staticmethod
    def logsf(z, shape, norm):
        return math.log(2 / math.pi * math.atan(math.exp(-0.5 * math.pi * z)))

    @staticmethod
    def slope(z, shape, norm):
        return -0.5 * math.pi * math.tanh(0.5 * math.pi * z)

    @staticmethod
    def quantile(u, shape=0.0):
        return 2 / np.pi * np.log(np.tan(np.pi / 2 * u))
'''


@pytest.fixture(scope="module")
def extended(tmp_path_factory):
    """The environment of somebody who has written these files."""
    folder = tmp_path_factory.mktemp("own")
    files = {"tenths.py": MECHANISM, "secant.py": FAMILY}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return os.environ | {"EXPLORER_EXTENSIONS": os.pathsep.join(str(folder / name) for name in files)}


def explorer(environment: dict, *arguments: str, code: int = 0) -> str:
    command = [sys.executable, "-m", "explorer", *arguments]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == code, ended.stderr
    return ended.stdout if code == 0 else ended.stderr


def test_the_command_line_lists_and_uses_them(extended):
    help_text = " ".join(explorer(extended, "simulate", "--help").split())
    assert "piecewise, tenths" in help_text
    assert "gumbel, secant" in help_text
    told = explorer(extended, "simulate", "--mechanism", "nonsense", code=2)
    assert "'tenths'" in told
    settings = ("--epsilon", "6", "--mu", "5", "--sigma", "2", "-n", "40", "--particles", "50", "--seed", "1")
    run = json.loads(explorer(extended, "simulate", "--mechanism", "tenths", "--family", "secant", *settings, "--json"))
    assert run["settings"]["mechanism"] == "tenths"
    assert run["steps"][-1]["y"] in range(10)


def test_the_audit_measures_it(extended):
    (report,) = json.loads(explorer(extended, "audit", "--mechanism", "tenths", "--json", "--seed", "1"))
    assert not report["violation"]
    assert 0.3 < report["epsilon_lower"] < 1


def test_the_planner_and_a_study_know_them(extended):
    code = """
import explorer as ex
from explorer import extensions
extensions.load()
options = ex.plan(0.1, 1.0, epsilon=2.0, family="secant")
assert "tenths" in {option.mechanism for option in options}, options
table = ex.study(epsilons=[4], methods=["adaptive"], mechanisms=["tenths"], families=["secant"], replicates=2, n=12,
                 particles=30, workers=2)
assert table["error"].isna().all(), table["error"].tolist()
print(len(table))
"""
    ended = subprocess.run([sys.executable, "-c", code], env=extended, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "2\n"


def test_a_file_that_is_not_there_is_told(extended):
    environment = extended | {"EXPLORER_EXTENSIONS": "nowhere.py"}
    assert "names a file that is not there: nowhere.py" in explorer(environment, "fisher", code=2)
