"""Param objects: typed, bounded, documented state around the engine. Knows no Panel."""
