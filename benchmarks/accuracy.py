"""How close runs come to the truth: the paper's experiment with its own method and with better mechanisms.

mu = 50, sigma^2 = 10, n = N = 1000, prior mu ~ N(0, 10^4), sigma^2 ~ IG(1, 1). Root mean square errors of the posterior
means of mu and sigma over 100 runs (each is known to about 7 %). All columns see the same 100 populations. In brackets
the limit for mu, sigma/sqrt(n F), from the Fisher information of one answer.
"""

import os
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np

import explorer as ex

RUNS, ANSWERS = 100, 1000
TRUTH = 50.0, 10**0.5
METHODS = {
    "fixed ±10σ, laplace": {"policy": "fixed"},
    "adaptive, laplace (the paper)": {},
    "adaptive, randomized_response": {"mechanism": "randomized_response"},
    "adaptive, piecewise": {"mechanism": "piecewise"},
}


def run() -> None:
    print("| ε | " + " | ".join(METHODS) + " |")
    print("|---" * (1 + len(METHODS)) + "|")
    with ProcessPoolExecutor(initializer=partial(os.environ.__setitem__, "EXPLORER_THREADS", "1")) as pool:
        for epsilon in (1.0, 2.0, 5.0, 10.0):
            cells = [_cell(pool, epsilon, settings) for settings in METHODS.values()]
            print(f"| {epsilon:g} | " + " | ".join(cells) + " |", flush=True)


def _cell(pool: ProcessPoolExecutor, epsilon: float, settings: dict) -> str:
    seeds = range(1000, 1000 + RUNS)
    errors = np.array(list(pool.map(partial(_error, epsilon=epsilon, **settings), seeds, chunksize=5)))
    mu, sigma = np.sqrt(np.mean(errors**2, axis=0))
    mechanism = settings.get("mechanism", "laplace")
    a, b = (-10, 10) if "policy" in settings else ex.best_interval(epsilon, mechanism=mechanism)[:2]
    information = ex.fisher_information(a, b, epsilon, mechanism=mechanism)[0, 0]
    return f"{mu:.3f} / {sigma:.2f} ({TRUTH[1] / np.sqrt(ANSWERS * information):.3f})"


def _error(seed: int, **settings) -> np.ndarray:
    trace = ex.simulate(*TRUTH, ANSWERS, seed=seed, keep=ANSWERS, levels=(), **settings)
    return trace.mean[-1] - TRUTH
