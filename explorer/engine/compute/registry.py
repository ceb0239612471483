"""Names and the classes that bear them: what the command line, the page, the planner and the studies list.

>>> class Shape:
...     name = "shape"
>>> shapes = Registry("shape")
>>> shapes.register(type("Circle", (Shape,), {"name": "circle"})).name
'circle'
>>> list(shapes)
['circle']
"""

from typing import NamedTuple, TypeVar

Class = TypeVar("Class", bound=type)


class Parameter(NamedTuple):
    """A number that a mechanism or a family takes beside what all of them take."""

    default: float
    low: float
    high: float
    label: str
    doc: str


class Registry(dict[str, type]):
    """Classes by their ``name``, in the order in which they were registered."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def register(self, cls: Class) -> Class:
        """Add a class, as its decorator. Raises ValueError if another class has its name."""
        name = vars(cls).get("name")
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"a {self.kind} must have a name of its own that is an identifier, got {name!r}")
        taken = self.get(name)
        # The same class again, from a notebook cell that runs twice, replaces itself.
        if taken is not None and (taken.__module__, taken.__qualname__) != (cls.__module__, cls.__qualname__):
            raise ValueError(f"there is a {self.kind} {name!r} already")
        self[name] = cls
        return cls

    def put_first(self, *names: str) -> None:
        """List these first, in this order: the order in which people meet them."""
        for name in (*names, *[other for other in self if other not in names]):
            self[name] = self.pop(name)

    def taking(self, parameter: str) -> list[str]:
        """The names of those classes that have this parameter."""
        return [name for name, cls in self.items() if parameter in cls.parameters]

    def shared_parameters(self) -> dict[str, Parameter]:
        """All parameters that any of the classes has."""
        return {name: parameter for cls in self.values() for name, parameter in cls.parameters.items()}
