"""Mutations of saved estimators and traces, in their bytes and in their fields.

A mutated file may load only if what it holds could have been saved: particles that can be, weights that add up,
answers that can be given, and an estimator that takes in one more answer. Anything else must be a ValueError that names
the file.
"""

import json
import math
import tempfile
from pathlib import Path

import numpy as np

import explorer as ex
from explorer.io import archive

SETTINGS = [
    {},
    {"mechanism": "piecewise", "policy": "plug_in"},
    {"mechanism": "randomized_response", "policy": "fixed", "first_interval": (0, 9)},
    {"sampler": "grid"},
    {"sampler": "gradient", "mechanism": "gaussian"},
    {"sampler": "resample_move", "family": ex.family("student_t", df=3.0)},
    {"policy": "pseudo_bayesian", "score": (1.0, 0.5)},
]
#: What a field of a header may become.
ODD = [
    None,
    True,
    -1,
    0,
    10**30,
    1e308,
    -0.0,
    math.nan,
    math.inf,
    "",
    "nan",
    "laplace",
    [],
    {},
    [1, 2, 3],
    {"a": 1},
    "x",
]


def fields_of(path) -> tuple[dict, dict]:
    """The header and the arrays, as the file has them."""
    with np.load(path, allow_pickle=False) as file:
        arrays = dict(file)
    header = json.loads(str(arrays.pop("header")))
    header.pop("digest", None)
    return header, arrays


def write_fields(path, header: dict, arrays: dict) -> None:
    """Write them with a digest that fits, as somebody would who means harm."""
    rest = {name: value for name, value in header.items() if name not in ("format", "version")}
    archive.write(path, header["format"], header["version"], rest, arrays)


def saved(folder: Path, kinds: list[str]) -> list[Path]:
    """Small files of all kinds of estimators, and traces."""
    paths = []
    for number, settings in enumerate(SETTINGS if "estimator" in kinds else []):
        estimator = ex.OnlineEstimator(**{"epsilon": 2.0, "particles": 12, "seed": number} | settings)
        rng = np.random.default_rng(number)
        for _ in range(5):
            estimator.observe(estimator.mechanism.release(rng.normal(5, 2), estimator.interval, rng))
        paths.append(folder / f"estimator{number}.npz")
        estimator.save(paths[-1])
    for number, keep in enumerate([2, ()] if "trace" in kinds else []):
        paths.append(folder / f"trace{number}.npz")
        ex.simulate(n=5, particles=12, seed=number, keep=keep).save(paths[-1])
    return paths


def run(count: int, seed: int, kinds=("estimator", "trace"), folder=None) -> dict:
    """Mutate, load, and count what happened; ``wrong`` lists what must not."""
    folder = Path(folder or tempfile.mkdtemp())
    rng = np.random.default_rng(seed)
    originals = saved(folder, list(kinds))
    counts = {"mutations": 0, "refused": 0, "loaded": 0, "wrong": []}
    target = folder / "mutated.npz"
    for _ in range(count):
        path = originals[rng.integers(len(originals))]
        how = _mutate(rng, path, target)
        counts["mutations"] += 1
        load = ex.Trace.load if path.name.startswith("trace") else ex.OnlineEstimator.load
        try:
            loaded = load(target)
        except ValueError as error:
            counts["refused"] += 1
            if target.name not in str(error):
                counts["wrong"].append(f"{path.name}, {how}: the message does not name the file: {error}")
            continue
        except Exception as error:
            counts["wrong"].append(f"{path.name}, {how}: {type(error).__name__}: {error}")
            continue
        counts["loaded"] += 1
        problem = _nonsense(loaded)
        if problem:
            counts["wrong"].append(f"{path.name}, {how}: loaded with {problem}")
    return counts


def _mutate(rng, source: Path, target: Path) -> str:
    if rng.random() < 0.3:
        return _mutate_bytes(rng, source, target)
    header, arrays = fields_of(source)
    how = _mutate_header(rng, header) if rng.random() < 0.4 else _mutate_array(rng, arrays)
    try:
        write_fields(target, header, arrays)
    except (KeyError, TypeError, ValueError):  # a header without a format
        np.savez(target, header=np.array(json.dumps(header)), **arrays)
    return how


def _mutate_bytes(rng, source: Path, target: Path) -> str:
    content = bytearray(source.read_bytes())
    kind = rng.integers(4)
    at = int(rng.integers(len(content)))
    if kind == 0:
        content = content[:at]
    elif kind == 1:
        content[at : at + 8] = rng.bytes(8)
    elif kind == 2:
        del content[at : at + int(rng.integers(1, 200))]
    else:
        for place in rng.integers(len(content), size=int(rng.integers(1, 20))):
            content[place] ^= 1 << int(rng.integers(8))
    target.write_bytes(bytes(content))
    return f"bytes {kind} at {at}"


def _mutate_header(rng, header: dict) -> str:
    where, path = header, []
    while True:
        key = list(where)[rng.integers(len(where))] if isinstance(where, dict) else int(rng.integers(len(where)))
        path.append(key)
        inner = where[key]
        if isinstance(inner, dict | list) and inner and rng.random() < 0.7:
            where = inner
            continue
        if rng.random() < 0.15 and isinstance(where, dict):
            del where[key]
            return f"header without {path}"
        where[key] = ODD[rng.integers(len(ODD))]
        return f"header {path} = {str(where[key])[:20]!r}"


def _mutate_array(rng, arrays: dict) -> str:
    name = list(arrays)[rng.integers(len(arrays))]
    array, kind = arrays[name], rng.integers(6)
    if kind == 0:
        del arrays[name]
    elif kind == 1:
        arrays[name] = array[: array.shape[0] // 2] if array.ndim else np.zeros(3)
    elif kind == 2:
        arrays[name] = np.concatenate([array, array]) if array.ndim else array
    elif kind == 3:
        arrays[name] = array.astype(np.int32 if array.dtype.kind == "f" else float)
    elif array.size:
        flat = array.copy().ravel()
        odd = [np.nan, np.inf, -np.inf, -1.0, 0.0, 1e300, -1e300, 1e-320, 7.0]
        with np.errstate(invalid="ignore"):
            flat[rng.integers(flat.size)] = np.array(odd[rng.integers(len(odd))]).astype(array.dtype)
        arrays[name] = flat.reshape(array.shape)
    return f"array {name}, kind {kind}"


def _nonsense(loaded) -> str | None:
    """What of a loaded object cannot be, if anything."""
    if isinstance(loaded, ex.Trace):
        if not np.all(loaded.left < loaded.right) or np.any(loaded.mean[:, 1] < 0):
            return "impossible intervals or sigmas"
        return None if np.all(np.isfinite(loaded.mean)) and np.all(loaded.weights >= 0) else "impossible weights"
    posterior = loaded.posterior
    if np.any(posterior.particles[:, 1] <= 0) or not np.all(np.isfinite(posterior.particles)):
        return "impossible particles"
    if np.any(posterior.weights < 0) or abs(posterior.weights.sum() - 1) > 1e-5:
        return "impossible weights"
    rng = np.random.default_rng(1)
    try:
        loaded.observe(loaded.mechanism.release(5.0, loaded.interval, rng))
    except ValueError:
        return None  # an interval that no mechanism can serve, say: told, and nothing has changed
    except Exception as error:
        return f"{type(error).__name__} at the next answer: {error}"
    return None if np.all(np.isfinite(loaded.posterior.mean)) else "a mean that is no number"
