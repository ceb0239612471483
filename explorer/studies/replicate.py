"""One replicate of a comparison: a population answers, a method estimates, and a row says how well it did.

A replicate is described by a plain dictionary, its ``cell``, which JSON can hold. What it gives depends on the cell
alone: not on the machine, the process, the number of threads or the other cells.

    >>> row = run({"method": "gradient/thompson", "epsilon": 5.0, "n": 50, "particles": 100, "replicate": 0})
    >>> row["error"], row["sampler"]
    (None, 'gradient')

As a program (``python -m explorer.studies.replicate``) it reads cells from standard input, one a line, and writes rows.
"""

import hashlib
import json
import os
import sys
import threading
import time
from contextlib import suppress

import numpy as np

from explorer import extensions
from explorer.engine.compute.arguments import one_of
from explorer.engine.compute.threads import Stopped
from explorer.engine.inference.priors import SemiConjugatePrior, described_prior
from explorer.engine.inference.samplers import BATCH_SAMPLERS, SAMPLERS, Posterior, batch_sampler
from explorer.engine.mechanisms import DEFAULT_DELTA, MECHANISMS, mechanism as find_mechanism
from explorer.engine.policy import POLICIES
from explorer.engine.population import family as find_family
from explorer.engine.run.simulation import iter_simulation, simulate

#: Short names of methods, which in full are ``sampler/policy``: the paper's three, with the fast sampler, and more.
METHODS = {
    "adaptive": "marginal/thompson",
    "fixed": "marginal/fixed",
    "mcmc": "mhaar/fixed",
    "oracle": "marginal/oracle",
    "gradient": "gradient/thompson",
}
#: Changes whenever the same cell would give other numbers: results of before are then not taken for those of now.
VERSION = 2
_LEVELS = (0.025, 0.5, 0.975)
#: What a row says beside its settings. The estimates are posterior means, standard deviations and quantiles.
NUMBERS = (
    *("true_mu", "true_sigma", "mu", "sigma", "mu_sd", "sigma_sd"),
    *(f"{name}_{level:g}" for name in ("mu", "sigma") for level in _LEVELS),
    *("ess", "seconds"),
)
#: What a cell may leave out. ``mu`` None: the truth is drawn from the prior, anew for each replicate.
DEFAULTS = {
    "method": "adaptive",
    "mechanism": "laplace",
    "family": {"name": "normal"},
    "epsilon": 1.0,
    "delta": DEFAULT_DELTA,
    "n": 1000,
    "particles": 1000,
    "mu": 50.0,
    "sigma": 10**0.5,
    "score": "mu",
    "prior": SemiConjugatePrior().description,
    "options": {},
    "best": None,
    "answers_epsilon": None,
    "seed": 1,
    "replicate": 0,
}


def parts(method: str) -> tuple[str, str]:
    """The sampler and the policy of a method.

    >>> parts("mcmc")
    ('mhaar', 'fixed')
    """
    if not isinstance(method, str):
        raise ValueError(f"method must be a name such as 'adaptive' or 'marginal/thompson', got {method!r}")
    sampler, slash, policy = METHODS.get(method, method).partition("/")
    if not slash:
        one_of("method", method, (*METHODS, "sampler/policy"))
    one_of("sampler", sampler, (*SAMPLERS, *BATCH_SAMPLERS))
    one_of("policy", policy, POLICIES)
    if sampler in BATCH_SAMPLERS and policy not in ("fixed", "oracle"):
        raise ValueError(f"method {method!r} cannot be: {sampler} sees all answers at once, so no interval can adapt")
    return sampler, policy


def key(cell: dict) -> str:
    """A name for a cell: equal for equal settings, whether a method is written in short or in full."""
    return _digest(VERSION, cell)


def _digest(version: int, cell: dict) -> str:
    known = DEFAULTS | cell
    known["method"] = "/".join(parts(known["method"]))
    return hashlib.sha256(json.dumps([version, known], sort_keys=True).encode()).hexdigest()[:24]


def seed_of(cell: dict) -> int:
    """The seed of this replicate alone: ``explorer.simulate`` takes it too. That of any other cell is independent."""
    # Not of the version: with the same people, noise and draws, versions can be compared.
    words = np.frombuffer(bytes.fromhex(_digest(1, cell)), dtype=">u4").astype(int)
    spawned = np.random.SeedSequence((DEFAULTS | cell)["seed"], spawn_key=words.tolist())
    return int(spawned.generate_state(1, np.uint64)[0] >> np.uint64(1))


def run(cell: dict) -> dict:
    """The row of a replicate; if it fails, ``error`` says why and the estimates are NaN."""
    try:
        extensions.load()  # also in the processes of a cluster
        return unfinished(cell) | _estimates(DEFAULTS | cell, *parts(cell["method"]), seed_of(cell))
    except Stopped:
        raise
    except Exception as error:
        return failed(cell, f"{type(error).__name__}: {error}")


def failed(cell: dict, error: str) -> dict:
    """The row of a replicate that failed."""
    return unfinished(cell) | {"error": error}


def unfinished(cell: dict) -> dict:
    """A row without estimates, which are NaN."""
    cell = DEFAULTS | cell
    sampler, policy = parts(cell["method"])
    row = {name: cell[name] for name in ("method", "mechanism", "epsilon", "n", "particles", "replicate")}
    row |= {"sampler": sampler, "policy": policy, "family": cell["family"]["name"], "seed": seed_of(cell)}
    row["df"] = float(cell["family"].get("df", "nan"))
    row["delta"] = cell["delta"] if cell["mechanism"] in MECHANISMS.taking("delta") else 0.0
    row["real_epsilon"] = cell["answers_epsilon"] or cell["epsilon"]
    return row | dict.fromkeys(NUMBERS, float("nan")) | {"error": None}


def _estimates(cell: dict, sampler: str, policy: str, seed: int) -> dict:
    prior = described_prior(cell["prior"])
    mu, sigma = cell["mu"], cell["sigma"]
    if mu is None:
        truth = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(3,)))
        mu, sigma = prior.sample(truth, 1)[0].tolist()
    settings = {name: cell[name] for name in ("n", "epsilon", "mechanism", "delta", "particles", "score", "best")}
    settings |= {"mu": mu, "sigma": sigma, "family": find_family(**cell["family"]), "prior": prior, "policy": policy}
    if cell["answers_epsilon"] is not None:
        settings["answers_by"] = find_mechanism(cell["mechanism"], cell["answers_epsilon"], cell["delta"])
    start = time.perf_counter()
    if sampler in BATCH_SAMPLERS:
        posterior = _batch_posterior(settings, sampler, cell["options"], seed)
        mean, sd, quantiles, ess = posterior.mean, posterior.sd, posterior.quantiles(_LEVELS), posterior.ess
    else:
        trace = simulate(
            **settings, sampler=sampler, sampler_options=cell["options"], seed=seed, keep=(), levels=_LEVELS
        )
        mean, sd, quantiles, ess = trace.mean[-1], trace.sd[-1], trace.quantiles[-1], trace.ess[-1]
    row = {"true_mu": mu, "true_sigma": sigma, "seconds": time.perf_counter() - start, "ess": float(ess)}
    if sampler == "gradient":  # whose cloud only pictures a normal distribution
        row["ess"] = float("nan")
    for column, name in enumerate(("mu", "sigma")):
        row |= {name: float(mean[column]), f"{name}_sd": float(sd[column])}
        row |= {f"{name}_{level:g}": float(quantiles[k, column]) for k, level in enumerate(_LEVELS)}
    return row


def _batch_posterior(settings: dict, sampler: str, options: dict, seed: int) -> Posterior:
    """All answers first, the same that an online method with this seed would get, and then the chain."""
    steps = iter_simulation(**settings | {"particles": 1}, seed=seed)
    chain = batch_sampler(sampler, steps.estimator.family, steps.estimator.mechanism, settings["prior"], **options)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(4,)))
    return chain.sample(rng, steps.all_answers())[0]


def main() -> None:
    rows = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else is printed does not get between the rows
    threading.Thread(target=_end_with, args=[os.getppid()], daemon=True).start()
    with suppress(BrokenPipeError):
        for line in sys.stdin:
            print(json.dumps(run(json.loads(line))), file=rows, flush=True)


def _end_with(parent: int) -> None:
    """Nobody waits for a row any more once who asked for it is gone."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


if __name__ == "__main__":
    main()
