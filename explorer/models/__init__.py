"""Param objects: typed, bounded, documented state around the engine. Knows no Panel.

``Experiment`` is what a user can set; ``LiveSimulation``, ``FisherSurface``, ``EpsilonCurve``, ``MonteCarlo`` and
``MechanismDensities`` compute from it, each with ``compute()`` in a script or ``await refresh()`` under an event loop.
"""
