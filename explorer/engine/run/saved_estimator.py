"""The file of an estimator: all that it is made of, in plain arrays and a JSON text, and back again to the last bit.

A file may hold anything: what it says is checked before it is used, and whatever is wrong with it is one ValueError.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from explorer.engine.compute.arguments import ordered_arrays
from explorer.engine.inference.history import History
from explorer.engine.inference.priors import Prior, described_prior
from explorer.engine.inference.samplers import SAMPLERS, Sampler, sampler as find_sampler
from explorer.engine.inference.samplers.protocol import check_array
from explorer.engine.information import Score, score_function
from explorer.engine.mechanisms import DEFAULT_DELTA, Interval, Mechanism, mechanism as find_mechanism
from explorer.engine.policy import Policy, described_policy
from explorer.engine.population import Family, family as find_family
from explorer.io import archive

_FORMAT, _VERSION = "explorer estimator", 1
#: What may be of one's own.
_KINDS = {"family": Family, "prior": Prior, "policy": Policy}


class Parts(NamedTuple):
    """All that an estimator is made of."""

    mechanism: Mechanism
    family: Family
    prior: Prior
    score: Score
    policy: Policy
    sampler: Sampler
    state: Any
    interval: Interval
    particle_rng: np.random.Generator
    policy_rng: np.random.Generator


def write(path: str | Path, parts: Parts) -> None:
    """Replace the file at ``path``."""
    mechanism, sampler = parts.mechanism, parts.sampler
    own_sampler = SAMPLERS.get(sampler.name) is not type(sampler)
    header = {
        "epsilon": mechanism.epsilon,
        "delta": mechanism.delta or DEFAULT_DELTA,
        "mechanism": None if mechanism.description is None else mechanism.name,
        "parameters": {name: value for name, value in mechanism.arguments.items() if name != "delta"},
        "family": parts.family.description,
        "prior": parts.prior.description,
        "score": None if callable(parts.score) else parts.score,
        "policy": parts.policy.description,
        "sampler": {"name": None if own_sampler else sampler.name, "particles": sampler.particles} | sampler.options,
        "interval": parts.interval,
        "random": [rng.bit_generator.state for rng in (parts.particle_rng, parts.policy_rng)],
        "state": {},
    }
    arrays = dict(zip(("history.y", "history.left", "history.right"), parts.state.history.arrays, strict=True))
    for name, value in parts.state._asdict().items():
        if isinstance(value, np.ndarray):
            arrays[f"state.{name}"] = value
        elif name != "history":
            header["state"][name] = value
    archive.write(path, _FORMAT, _VERSION, header, arrays)


def read(path: str | Path, given: dict[str, Any]) -> Parts:
    """The parts that were written. ``given`` are those of the caller's own, which no file can describe, or None."""
    header, arrays = archive.read(path, _FORMAT, _VERSION)
    # A file may hold anything: whatever goes wrong with it has one meaning, and nothing of it is used.
    try:
        return _restored(header, arrays, given)
    except _GivenAgainError as error:
        raise ValueError(f"{path}: {error}") from None
    except Exception as error:
        raise ValueError(f"{path} is damaged: {error}") from error


def _restored(header: dict, arrays: dict[str, np.ndarray], given: dict) -> Parts:
    family = _given_again("family", given, header["family"], lambda known: find_family(**known))
    mechanism = _restored_mechanism(header, given["mechanism"])
    prior = _given_again("prior", given, header["prior"], described_prior)
    score = _restored_score(header, given["score"])
    sampler = _restored_sampler(header, given["sampler"], family, mechanism, prior)
    policy = _given_again(
        "policy", given, header["policy"], lambda known: described_policy(known, family, mechanism, score)
    )
    columns = [arrays.pop(f"history.{column}") for column in ("y", "left", "right")]
    values = {name.removeprefix("state."): array for name, array in arrays.items()}
    state = sampler.restored(values | header["state"], _history(*columns, family, mechanism))
    interval = Interval.of(header["interval"])
    return Parts(mechanism, family, prior, score, policy, sampler, state, interval, *map(_generator, header["random"]))


def _restored_mechanism(header: dict, own: Mechanism | None) -> Mechanism:
    name = header["mechanism"]
    if name is not None:
        # Files of version 0.1.0 have no parameters.
        known = find_mechanism(name, header["epsilon"], header["delta"], **header.get("parameters", {}))
        if own is not None and not isinstance(own, Mechanism):
            raise _WrongKindError("mechanism", "a Mechanism", own)
        if own not in (None, known):
            raise _GivenAgainError("mechanism", repr(known))
        return known
    if not isinstance(own, Mechanism) or own.description is not None:
        raise _GivenAgainError("mechanism")
    if (own.epsilon, own.delta or DEFAULT_DELTA) != (header["epsilon"], header["delta"]):
        raise _GivenAgainError("mechanism", f"one with epsilon={header['epsilon']}, delta={header['delta']}")
    return own


def _restored_score(header: dict, own: Score | None) -> Score | None:
    saved = header["score"]
    score = saved if own is None else own
    if saved is not None and (callable(score) or json.dumps(score) != json.dumps(saved)):
        raise _GivenAgainError("score", str(saved))
    if score is None and (header["policy"] or {}).get("name") == "pseudo_bayesian":
        raise _GivenAgainError("score")
    if score is not None:
        score_function(score)
    return score


def _restored_sampler(header: dict, own, family: Family, mechanism: Mechanism, prior: Prior) -> Sampler:
    options = dict(header["sampler"])
    name = options.pop("name")
    if isinstance(own, str):
        raise _WrongKindError("sampler", "the class of a sampler", own)
    if name is not None and own not in (None, SAMPLERS.get(name)):
        raise _GivenAgainError("sampler", repr(name))
    if name is None and own is None:
        raise _GivenAgainError("sampler")
    return find_sampler(name or own, family=family, mechanism=mechanism, prior=prior, **options)


class _GivenAgainError(ValueError):
    """Something of the caller's own is missing, or is not what was saved."""

    def __init__(self, name: str, saved: str | None = None) -> None:
        if saved is None:
            super().__init__(f"the saved estimator had a {name} of its own: give it again as {name}=...")
        else:
            super().__init__(f"the saved estimator had another {name}: {saved}")


class _WrongKindError(_GivenAgainError):
    """A name, say, where an object is needed."""

    def __init__(self, name: str, kind: str, given) -> None:
        ValueError.__init__(self, f"{name} must be {kind}, got {given!r}")


def _given_again(name: str, given: dict, known, find):
    """What the file describes or, where it describes nothing, what the caller gives."""
    own = given[name]
    if known is None and (not isinstance(own, _KINDS[name]) or own.description is not None):
        raise _GivenAgainError(name)
    if known is None:
        return own
    if own is not None and not isinstance(own, _KINDS[name]):
        raise _WrongKindError(name, f"a {_KINDS[name].__name__}", own)
    if own is not None and json.dumps(own.description) != json.dumps(known):
        raise _GivenAgainError(name, str(known))
    found = find(known)
    if found is None and own is None:  # a part of it was of somebody's own
        raise _GivenAgainError(name)
    return own if found is None else found


def _history(y: np.ndarray, left: np.ndarray, right: np.ndarray, family: Family, mechanism: Mechanism) -> History:
    """The answers of a file, if the mechanism can have given them."""
    for name, column in (("y", y), ("left", left), ("right", right)):
        check_array(name, column, (y.size,))
    ordered_arrays(("left", "right"), left, right)
    middle, width = left + (right - left) / 2, right - left
    if y.size and not np.all(mechanism.evaluate(family, y, left, right, middle, width)[:, 0] > -np.inf):
        raise ValueError(f"it has answers that {mechanism!r} cannot give")
    return History(y, left, right)


def _generator(state: dict) -> np.random.Generator:
    rng = np.random.default_rng()
    rng.bit_generator.state = state
    return rng
