"""How the engine compiles: once per machine, cached on disk, free of the GIL, without threads of its own.

``kernel`` decorates a function that is compiled when it is first called. ``scalar_pointer``
turns a plain Python function ``f(z, shape, norm)`` into an address that any kernel can ``call``, so that
one compiled kernel serves every family and a new family compiles only its own few lines.

Kernels are single-threaded on purpose: numba's own threading layers may not be entered by
several Python threads at once, and a served app does just that.
"""

import hashlib
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from llvmlite import ir
from numba import cfunc, njit, types
from numba.extending import intrinsic

scalar_signature = types.float64(types.float64, types.float64, types.float64)
_compiling = threading.Lock()


def _engine_digest() -> str:
    sources = sorted(Path(__file__).parent.rglob("*.py"))
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()


_DIGEST = _engine_digest()


def _decorator(**options):
    # No fastmath: the compiler may not even fuse a*b + c where it likes. A function that several kernels contain is
    # compiled in each, and which copy a process runs depends on what it has loaded: all must agree to the last bit.
    compile_ = njit(cache=True, nogil=True, error_model="numpy", **options)

    def decorate(function):
        dispatcher = compile_(function)
        # numba watches only the file that a kernel stands in, but a kernel also contains what it calls:
        # what is cached must go when any file of the engine changes.
        dispatcher._cache._cache_file._source_stamp = _DIGEST
        return dispatcher

    return decorate


kernel = _decorator()
#: For the small functions inside a loop that is to be vectorised.
inlined = _decorator(forceinline=True)


def scalar_pointer(function: Callable[[float, float, float], float]) -> int:
    """The address of ``function``, compiled: a plain number, which costs nothing to hand to a kernel."""
    return _callback(function).address


@cache  # also keeps the machine code alive that the address points to
def _callback(function: Callable[[float, float, float], float]):
    with _compiling:
        try:
            return cfunc(scalar_signature, cache=True, error_model="numpy")(function)
        except RuntimeError:  # typed at a prompt: there is no file beside which to keep it
            return cfunc(scalar_signature, error_model="numpy")(function)


@intrinsic
def call(typing_context, pointer, z, shape, norm):
    """``f(z, shape, norm)`` for the function at this address."""

    def codegen(context, builder, signature, arguments):
        number = ir.DoubleType()
        function = ir.FunctionType(number, [number] * 3)
        return builder.call(builder.inttoptr(arguments[0], function.as_pointer()), arguments[1:])

    return types.float64(types.int64, types.float64, types.float64, types.float64), codegen


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
