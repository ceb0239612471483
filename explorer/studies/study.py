"""Replicated comparisons: methods, mechanisms, families, privacy levels, sizes; each combination many times.

    >>> table = study(epsilons=[5], methods=["adaptive", "fixed"], replicates=2, n=50, particles=100, workers=1)
    >>> table[["method", "epsilon", "replicate"]].values.tolist()
    [['adaptive', 5.0, 0], ['adaptive', 5.0, 1], ['fixed', 5.0, 0], ['fixed', 5.0, 1]]

Every replicate has random numbers of its own, which depend on its settings and on the study's seed alone. Add methods
or replicates later, and those that were there stay what they are. With a folder, each finished replicate is a file in
it at once: the same study, started again, does what is missing.
"""

import os
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from explorer.engine.compute.arguments import finite, positive, whole
from explorer.engine.compute.threads import Stopped, stoppable
from explorer.engine.inference.priors import Prior, SemiConjugatePrior
from explorer.engine.inference.samplers import BATCH_SAMPLERS, batch_sampler, sampler as find_sampler
from explorer.engine.information import score_function
from explorer.engine.mechanisms import DEFAULT_DELTA, mechanism as find_mechanism
from explorer.engine.population import Family, family as find_family
from explorer.studies import replicate, workers as places
from explorer.studies.folder import StudyFolder

#: Called with each finished row, how many are finished, and how many there will be.
Progress = Callable[[dict, int, int], None]


def study(
    epsilons: Sequence[float] = (1, 2, 5, 10),
    methods: Sequence[str] = ("adaptive", "fixed", "mcmc"),
    replicates: int = 30,
    mechanisms: Sequence[str] = ("laplace",),
    families: Sequence[str | Family] = ("normal",),
    n: int | Sequence[int] = 1000,
    particles: int | Sequence[int] = 1000,
    mu: float | None = 50.0,
    sigma: float | None = 10**0.5,
    score: str = "mu",
    seed: int = 1,
    prior: Prior | None = None,
    delta: float = DEFAULT_DELTA,
    options: dict[str, dict] | None = None,
    out: str | Path | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> pd.DataFrame:
    """One row for each method, mechanism, family, n, number of particles, epsilon and replicate.

    ``methods`` are ``"adaptive"``, ``"fixed"``, ``"mcmc"``, ``"oracle"``, ``"gradient"`` or any ``"sampler/policy"``,
    such as ``"resample_move/thompson"``; ``options`` are those of samplers by their names, such as
    ``{"mhaar": {"iterations": 20_000}}``. With ``mu=None`` and ``sigma=None`` the truth is drawn from the prior.

    Work is done in this process (``workers=1``), in processes (as many as cores, if None), or on the Dask cluster of
    ``scheduler``. ``out`` is the folder that keeps the replicates; ``cancelled`` is asked now and then.
    """
    cells = planned_cells(
        epsilons, methods, replicates, mechanisms, families, n, particles, mu, sigma, score, seed, prior, delta, options
    )
    return carry_out(cells, out, workers, scheduler, progress, cancelled)


def planned_cells(
    epsilons, methods, replicates, mechanisms, families, n, particles, mu, sigma, score, seed, prior, delta, options
) -> list[dict]:
    """The cells of a study, all of them checked."""
    replicates, seed = whole("replicates", replicates, 1), whole("seed", seed, 0)
    prior = SemiConjugatePrior() if prior is None else prior
    if (mu is None) != (sigma is None):
        raise ValueError("mu and sigma must both be given, or both be None: then they are drawn from the prior")
    if mu is not None:
        mu, sigma = finite("mu", mu), positive("sigma", sigma)
    if not isinstance(score, str):
        raise ValueError(f"score must be a name, got {score!r}")
    score_function(score)
    chosen = [find_family(name) for name in _several("families", families)]
    known = {"family": [family.description for family in chosen], "prior": [prior.description]}
    for name, descriptions in known.items():
        if None in descriptions:
            raise ValueError(f"a study needs a {name} that can be told in words and numbers")
    options = options or {}
    strange = set(options) - {replicate.parts(method)[0] for method in _several("methods", methods)}
    if strange:
        raise ValueError(f"options are given for {', '.join(sorted(strange))}, which no method uses")
    cells = []
    combinations = product(
        _several("methods", methods),
        _several("mechanisms", mechanisms),
        chosen,
        [whole("n", size, 1) for size in _several("n", n)],
        [whole("particles", size, 1) for size in _several("particles", particles)],
        [positive("epsilon", epsilon) for epsilon in _several("epsilons", epsilons)],
    )
    for method, mechanism, family, size, number, epsilon in combinations:
        sampler, _ = replicate.parts(method)
        mech, of_sampler = find_mechanism(mechanism, epsilon, delta), options.get(sampler, {})
        if sampler in BATCH_SAMPLERS:
            batch_sampler(sampler, family, mech, prior, **of_sampler)
        else:
            find_sampler(sampler, family, mech, prior, number, **of_sampler)
        cell = {"method": method, "mechanism": mech.name, "family": family.description, "n": size}
        cell |= {"particles": number, "epsilon": epsilon, "delta": float(delta), "mu": mu, "sigma": sigma}
        plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in of_sampler.items()}
        cell |= {"score": score, "seed": seed, "prior": prior.description, "options": plain}
        cells += [replicate.DEFAULTS | cell | {"replicate": k} for k in range(replicates)]
    return list({replicate.key(cell): cell for cell in cells}.values())


def carry_out(
    cells: Sequence[dict],
    out: str | Path | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> pd.DataFrame:
    """The rows of these cells, in their order; those that the folder ``out`` holds are not computed again."""
    count = (os.cpu_count() or 1) if workers is None else whole("workers", workers, 1)
    cluster = None if scheduler is None else places.Cluster(scheduler)
    try:
        folder = None if out is None else StudyFolder(out)
        rows = {} if folder is None else folder.rows(cells)
        for done, row in enumerate(list(rows.values())):
            if progress is not None:
                progress(row, done + 1, len(cells))
        missing = [cell for cell in cells if replicate.key(cell) not in rows]
        if cluster is not None:
            results = cluster.results(missing)
        else:
            results = places.in_this_process(missing) if count == 1 else places.in_processes(missing, count)
        try:
            with stoppable(cancelled):
                for cell, row in results:
                    if folder is not None:
                        folder.keep(cell, row)
                    rows[replicate.key(cell)] = row
                    if progress is not None:
                        progress(row, len(rows), len(cells))
        except Stopped:
            pass
        finally:
            results.close()
    finally:
        if cluster is not None:
            cluster.close()
    found = [rows[replicate.key(cell)] for cell in cells if replicate.key(cell) in rows]
    return pd.DataFrame(found, columns=list(replicate.unfinished(replicate.DEFAULTS)))


def _several(name: str, values) -> list:
    several = [values] if isinstance(values, str | int | float | np.number | Family) else list(values)
    if not several:
        raise ValueError(f"{name} must not be empty")
    return several
