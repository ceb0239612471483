"""The address bar holds the state: copy it and a colleague sees the same.

Only what differs from the defaults is in it. A name that is unknown or a value that cannot be is left out, and told.
"""

import asyncio
from urllib.parse import parse_qsl, urlencode

import panel as pn
import param

#: The address follows when the settings stand still: browsers count how often it changes.
_REST_SECONDS = 0.7


class Address:
    """Keeps some parameters of several objects in the page's address."""

    def __init__(self, parameters: dict[str, param.Parameterized]) -> None:
        """``parameters`` names each parameter and the object that has it."""
        self._parameters = parameters
        self._latest = 0
        self._written: str | None = None

    def read(self, search: str) -> list[str]:
        """Set what an address says; returns a sentence for each part that could not be used."""
        problems, given = [], []
        for name, text in parse_qsl(search.removeprefix("?"), keep_blank_values=True):
            if name in self._parameters:
                given.append((name, text))
            else:
                problems.append(f"{name[:40]} is not a setting")
        for owner in dict.fromkeys(self._parameters.values()):
            with param.parameterized.batch_call_watchers(owner):  # whoever watches hears of all at once
                for name, text in given:
                    if self._parameters[name] is owner:
                        try:
                            setattr(owner, name, self._value(name, text))
                        except ValueError:
                            problems.append(f"{name} cannot be {text[:40]!r}")
        return problems

    def _value(self, name: str, text: str):
        """A text as a value of the parameter's kind; a ValueError otherwise."""
        parameter = self._parameters[name].param[name]
        if isinstance(parameter, param.Boolean):
            value = {"true": True, "false": False}.get(text.lower())
        elif isinstance(parameter, param.Integer):
            value = int(text)
        elif isinstance(parameter, param.ListSelector):
            known = {_text(choice): choice for choice in parameter.objects}
            parts = text.split(",") if text else []
            if not set(parts) <= set(known):
                raise ValueError(text)
            value = [known[part] for part in parts]
        elif isinstance(parameter, param.Range):
            value = tuple(float(end) for end in text.split(","))
            if len(value) != 2 or not value[0] < value[1]:
                raise ValueError(text)
        elif isinstance(parameter, param.Number):
            value = float(text)
            if value != value:
                raise ValueError(text)
        else:
            value = text
        return value

    def text(self) -> str:
        """What differs from the defaults, as the end of an address."""
        values = {}
        for name, owner in self._parameters.items():
            value = getattr(owner, name)
            if value != owner.param[name].default:
                values[name] = _text(value)
        return f"?{urlencode(values, safe=',')}" if values else ""

    def follow(self) -> None:
        """From now on the address follows the parameters, and the parameters follow the browser's back button."""
        location = pn.state.location
        if location is None:
            return
        names: dict[param.Parameterized, list[str]] = {}
        for name, owner in self._parameters.items():
            names.setdefault(owner, []).append(name)
        for owner, own in names.items():
            owner.param.watch(self._write, own)
        self._written = location.search
        location.param.watch(self._back, "search")

    async def _write(self, *events) -> None:
        self._latest += 1
        mine = self._latest
        await asyncio.sleep(_REST_SECONDS)
        if mine == self._latest and pn.state.location is not None:
            self._written = self.text()
            pn.state.location.search = self._written

    def _back(self, event) -> None:
        if event.new != self._written:
            self._written = event.new
            given = dict(parse_qsl(event.new.removeprefix("?")))
            for owner in dict.fromkeys(self._parameters.values()):
                gone = [name for name, has in self._parameters.items() if has is owner and name not in given]
                owner.param.update(**{name: owner.param[name].default for name in gone})
            self.read(event.new)


def _text(value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return ",".join(map(_text, value))
    return f"{value:.12g}" if isinstance(value, float) else str(value)
