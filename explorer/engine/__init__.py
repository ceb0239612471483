"""Numbers only: NumPy, SciPy and numba. Knows no Param, no Panel, no plot."""
