"""Helpers for the scripts that reproduce a result.

>>> print(call("ex.best_interval", {"epsilon": 2.0, "score": "mu"}))
ex.best_interval(
    epsilon=2.0,
    score='mu',
)
"""

from explorer.engine.mechanisms import MECHANISMS
from explorer.engine.population import FAMILIES, Family, family as find_family


class Code(str):
    """An argument that is written as it is, such as the name of a variable."""

    __slots__ = ()


def call(function: str, arguments: dict) -> str:
    """A call with one argument a line."""
    lines = [f"    {name}={_text(value)}," for name, value in arguments.items()]
    return "\n".join([f"{function}(", *lines, ")"])


def indented(code: str) -> str:
    """Code that goes on inside an indented line."""
    return code.replace("\n", "\n    ")


def _text(value) -> str:
    if isinstance(value, Code):
        return str(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, Family):
        return (
            f"ex.family({', '.join([repr(value.name), *(f'{name}={own!r}' for name, own in value.arguments.items())])})"
        )
    return repr(value)


def family_argument(name: str, df: float):
    """A family by its name if the name says all, else the family itself."""
    return find_family(name, df=df) if "df" in FAMILIES[name].parameters else name


def without_unused(settings: dict) -> dict:
    """Settings as arguments: those that are None, and δ where no mechanism has one, are left out."""
    mechanisms = settings.get("mechanisms", [settings.get("mechanism")])
    return {
        name: value
        for name, value in settings.items()
        if value is not None and (name != "delta" or set(mechanisms) & set(MECHANISMS.taking("delta")))
    }


def program(*lines: str) -> str:
    """A script that imports the package first."""
    return "\n".join(["import explorer as ex", "", *lines])
