"""Starting the app: kernels first, so that the first visitor does not wait for the compiler."""

import time
from pathlib import Path


def warm_up() -> float:
    """Load or compile what the first page needs; returns the seconds it took."""
    from explorer.models.fisher_surface import FisherSurface

    start = time.perf_counter()
    for mechanism in FisherSurface.param.mechanism.objects:
        model = FisherSurface(mechanism=mechanism)
        model.surface()
        model.best()
    return time.perf_counter() - start


def serve(port: int, address: str, browser: bool) -> int:
    """Serve until interrupted."""
    if not 0 <= port <= 65535:
        raise ValueError(f"port must lie between 0 and 65535, got {port}")
    import panel as pn

    print("Preparing the kernels (compiled once per machine) ...", flush=True)
    print(f"... ready after {warm_up():.1f} s", flush=True)
    app = Path(__file__).with_name("app.py")
    try:
        pn.serve({"/": str(app)}, port=port, address=address, show=browser, title="Explorer", verbose=True)
    except OSError as error:
        raise ValueError(f"port {port} on {address} cannot be used: {error.strerror or error}") from None
    return 0
