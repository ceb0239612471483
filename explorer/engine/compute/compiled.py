"""How the engine compiles: once per machine, cached on disk, free of the GIL, without threads of its own.

``kernel`` decorates a function that is compiled when it is first called. ``scalar_pointer``
turns a plain Python function ``f(z, shape, norm)`` into an address that any kernel can ``call``, so that
one compiled kernel serves every family and a new family compiles only its own few lines.

Kernels are single-threaded on purpose: numba's own threading layers may not be entered by
several Python threads at once, and a served app does just that.

What is compiled is kept where numba keeps it: in ``NUMBA_CACHE_DIR`` if that is set, else beside the source, else in
the user's cache. Where none of these can be written, it is kept in a folder of the user's own among the temporary
files; and where that cannot be had either, every process compiles for itself.
"""

import contextlib
import hashlib
import os
import stat
import tempfile
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numba
import numpy as np
from llvmlite import ir
from numba import cfunc, njit, types
from numba.extending import intrinsic

scalar_signature = types.float64(*[types.float64] * 3)
release_signature = types.float64(*[types.float64] * 8)
_compiling = threading.Lock()


def _engine_digest() -> str:
    sources = sorted(Path(__file__).parents[1].rglob("*.py"))
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()


_DIGEST = _engine_digest()


def _cache_somewhere() -> None:
    """If numba finds no place to cache, give it one among the temporary files."""
    try:
        njit(cache=True)(_cache_somewhere)  # nothing is compiled before it is called
    except RuntimeError:
        with contextlib.suppress(OSError):
            numba.config.CACHE_DIR = _private_folder(Path(tempfile.gettempdir()))


def _private_folder(parent: Path) -> str:
    """A folder that only this user can read or write; an OSError if it cannot be had.

    Its name is known to everybody, and machine code that somebody else has put there would be carried out: what is
    there already must be this user's own, and nobody else may be able to put another in its place.
    """
    if not hasattr(os, "geteuid"):
        raise OSError("who owns a folder is not known on this system")
    user = os.geteuid()
    folder = parent / f"explorer-numba-{user}"
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    inside, around = folder.lstat(), parent.stat()
    others_write = stat.S_IWGRP | stat.S_IWOTH
    mine = stat.S_ISDIR(inside.st_mode) and inside.st_uid == user and not inside.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    kept = around.st_uid in (0, user) and (not around.st_mode & others_write or around.st_mode & stat.S_ISVTX)
    if not (mine and kept):
        raise PermissionError(f"{folder} may be written by others")
    return str(folder)


_cache_somewhere()


def _cached(function: Callable, **options):
    """``function`` compiled and cached; a RuntimeError if it cannot be cached, or not so that no change is missed."""
    dispatcher = njit(function, cache=True, **options)
    # numba watches only the file that a kernel stands in, but a kernel also contains what it calls: what is cached must
    # go when any file of the engine changes. This can go when numba lets one say what a kernel depends on.
    file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if not hasattr(file, "_source_stamp"):
        raise RuntimeError("this numba keeps the stamp of the source elsewhere")
    file._source_stamp = _DIGEST
    return dispatcher


def _decorator(**more):
    # No fastmath: the compiler may not even fuse a*b + c where it likes. A function that several kernels contain is
    # compiled in each, and which copy a process runs depends on what it has loaded: all must agree to the last bit.
    options = {"nogil": True, "error_model": "numpy"} | more

    def decorate(function: Callable):
        try:
            return _cached(function, **options)
        except RuntimeError:  # slower in every new process, and right
            return njit(function, **options)

    return decorate


kernel = _decorator()
#: For the small functions inside a loop that is to be vectorised.
inlined = _decorator(forceinline=True)


def scalar_pointer(function: Callable[[float, float, float], float]) -> int:
    """The address of ``function``, compiled: a plain number, which costs nothing to hand to a kernel."""
    return _callback(function, scalar_signature).address


def release_pointer(function: Callable[..., float]) -> int:
    """The same of a mechanism's ``log_release(y, x, left, right, *constants)``."""
    return _callback(function, release_signature).address


@cache  # also keeps the machine code alive that the address points to
def _callback(function: Callable[..., float], signature):
    with _compiling:
        try:
            return cfunc(signature, cache=True, error_model="numpy")(function)
        except RuntimeError:  # typed at a prompt: there is no file beside which to keep it
            return cfunc(signature, error_model="numpy")(function)


def _call(builder, pointer, numbers):
    number = ir.DoubleType()
    function = ir.FunctionType(number, [number] * len(numbers))
    return builder.call(builder.inttoptr(pointer, function.as_pointer()), numbers)


@intrinsic
def call(typing_context, pointer, z, shape, norm):
    """``f(z, shape, norm)`` for the function at this address."""

    def codegen(context, builder, signature, arguments):
        return _call(builder, arguments[0], list(arguments[1:]))

    return types.float64(types.int64, types.float64, types.float64, types.float64), codegen


@intrinsic
def _call_release(typing_context, pointer, y, x, left, right, first, second, third, fourth):
    def codegen(context, builder, signature, arguments):
        return _call(builder, arguments[0], list(arguments[1:]))

    return types.float64(types.int64, *[types.float64] * 8), codegen


@kernel
def log_release(pointer, constants, y, x, left, right):
    """The log-density of the answer ``y`` of an individual whose value is ``x``, by the function at this address."""
    return _call_release(pointer, y, x, left, right, constants[0], constants[1], constants[2], constants[3])


def map_scalar(pointer: int, shape: float, norm: float, z) -> np.ndarray:
    """The pointed-to function of every element of an array."""
    z = np.asarray(z, dtype=float)
    return _map_flat(pointer, shape, norm, z.ravel()).reshape(z.shape)


@kernel
def _map_flat(pointer, shape, norm, z):
    out = np.empty_like(z)
    for i in range(z.size):
        out[i] = call(pointer, z[i], shape, norm)
    return out
