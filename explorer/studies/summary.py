"""What a study found: for each combination of its settings, how well the replicates did.

>>> from explorer.studies.study import study
>>> found = summary(study(epsilons=[5], methods=["adaptive"], replicates=3, n=60, particles=100, workers=1))
>>> found[["method", "replicates", "failed"]].values.tolist()
[['adaptive', 3, 0]]
"""

import numpy as np
import pandas as pd

from explorer.engine.information import best_ldp
from explorer.engine.population import family as find_family

#: What makes two rows replicates of each other.
SETTINGS = ["method", "sampler", "policy", "mechanism", "delta", "family", "df", "n", "particles", "epsilon"]
SETTINGS += ["real_epsilon"]
#: All columns of a summary.
COLUMNS = [*SETTINGS, "replicates", "failed", "true_sigma"]
COLUMNS += [f"{name}_{what}" for name in ("mu", "sigma") for what in ("rmse", "rmse_error", "bias", "coverage")]
COLUMNS += ["ess", "seconds", "efficiency"]


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """One row for each combination, in the order of the table.

    ``mu_rmse`` and ``sigma_rmse`` are of the posterior means, with their Monte Carlo standard errors beside them;
    ``mu_coverage`` is how often the 95 % interval holds the truth, and ``seconds`` is the median time of a run.
    ``ess`` is the median number of draws from the posterior that a run's particles, or its chain, are worth.
    ``efficiency`` is n Var(mu) times the information about mu of the best epsilon-LDP mechanism, at the true sigma: 1
    means that no epsilon-LDP method could do better asymptotically, 2 that twice as many individuals are needed.
    (epsilon, delta)-private mechanisms are not bound by that, so theirs is NaN.
    """
    rows = []
    for settings, group in table.groupby(SETTINGS, sort=False, dropna=False):
        row = dict(zip(SETTINGS, settings, strict=True))
        good = group[group["error"].isna()]
        row |= {"replicates": len(good), "failed": len(group) - len(good)}
        # NaN where the truth differs from replicate to replicate.
        row["true_sigma"] = float(good["true_sigma"].iloc[0]) if good["true_sigma"].nunique() == 1 else np.nan
        for name in ("mu", "sigma"):
            error = (good[name] - good[f"true_{name}"]).to_numpy()
            row |= _accuracy(name, error)
            inside = (good[f"{name}_0.025"] <= good[f"true_{name}"]) & (good[f"true_{name}"] <= good[f"{name}_0.975"])
            row[f"{name}_coverage"] = float(inside.mean()) if len(good) else np.nan
        for name in ("ess", "seconds"):  # the median: the first run of a process also loads the kernels
            row[name] = float(good[name].median()) if len(good) else np.nan
        row["efficiency"] = _efficiency(row, good)
        rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS)


def _accuracy(name: str, error: np.ndarray) -> dict[str, float]:
    found = dict.fromkeys((f"{name}_rmse", f"{name}_rmse_error", f"{name}_bias"), np.nan)
    if error.size:
        square = error**2
        found[f"{name}_bias"] = float(error.mean())
        found[f"{name}_rmse"] = rmse = float(np.sqrt(square.mean()))
        if error.size > 1 and rmse > 0:  # of a root, by the slope of the root
            found[f"{name}_rmse_error"] = float(square.std(ddof=1) / np.sqrt(error.size) / (2 * rmse))
    return found


def _efficiency(row: dict, good: pd.DataFrame) -> float:
    if row["delta"] > 0 or len(good) < 2:
        return np.nan
    shape = {} if np.isnan(row["df"]) else {"df": row["df"]}
    best = best_ldp(row["real_epsilon"], family=find_family(row["family"], **shape)).value
    standardised = (good["mu"] - good["true_mu"]) / good["true_sigma"]
    return float(row["n"] * standardised.var(ddof=1) * best)
