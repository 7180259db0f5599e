"""The lines of a file that a flow's properties come from, and what to say of a value that cannot be read.

Java's properties know comments only on lines of their own: what stands behind a value is a part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.redaction import HIDDEN, is_secret_property

FlowSide = Literal["source", "target"]
_COMMENT = re.compile(r"\s(?:#|!|;|//)")
_QUOTED = re.compile(r"([\"']).*\1")
_OTHER_SIDE: Mapping[FlowSide, tuple[str, ...]] = {
    "source": ("producer.", "target."),
    "target": ("consumer.", "source."),
}
_OF_FLOW = (
    "",
    "source.consumer.",
    "consumer.",
    "producer.override.",
    "source.admin.",
    "target.admin.",
    "admin.",
    "source.cluster.",
    "target.cluster.",
)
_OF_CLUSTER = ("", "consumer.", "producer.", "admin.")
"""Beginnings of names with which a client's property reaches a flow. `A->B.producer.x` is none of them: it does not."""


class RefusedLine(ConfigurationError):
    """A value of a file that cannot be used, named with its line."""


@dataclass(frozen=True, slots=True)
class Place:
    """Lines of a file that belong together, such as those of one flow."""

    label: str
    """The beginning of a line, before the property's name."""
    lines: Mapping[str, str] = field(repr=False)
    """The property's name -> its value."""


@dataclass(frozen=True, slots=True)
class FileLines:
    """The lines that a flow reads; a place before another one counts more."""

    own: Sequence[Place] = ()
    source: Sequence[Place] = ()
    """Lines of the source cluster; of the target cluster."""
    target: Sequence[Place] = ()
    general: Sequence[Place] = ()

    def refusal(self, name: str, text: str, why: str, side: FlowSide | None = None) -> RefusedLine:
        """Return what to say of a value; without a `side` it is no property of a client or a worker."""
        place, key = next(self._places(name, text, side), (None, name))
        shown = HIDDEN if is_secret_property(name) else text.strip()
        label, whole = "" if place is None else place.label, ": ".join(why.splitlines())
        refused = RefusedLine(f"{label}{key} = {shown}: {whole}{_advice(text)}")
        refused.property_name = name
        return refused

    @contextmanager
    def named(self, texts: Mapping[str, str] | None = None, side: FlowSide | None = None) -> Iterator[None]:
        """Name the line in an error about a property that the code inside reads.

        `texts` are the properties of a client of this side; None: those of the connectors.
        """
        try:
            yield
        except RefusedLine:
            raise
        except ConfigurationError as error:
            name = error.property_name
            text = self._of_connector(name) if texts is None else texts.get(name)
            if text is None:
                raise
            refused = self.refusal(name, text, str(error), side)
            for note in getattr(error, "__notes__", ()):
                refused.add_note(note)
            raise refused from error

    def _of_connector(self, name: str) -> str | None:
        places = (*self.own, *self.general)
        return next((each.lines[name] for each in places if name in each.lines), None)

    def _places(self, name: str, text: str, side: FlowSide | None) -> Iterator[tuple[Place, str]]:
        """Yield the places that have the property with this value, and its key there."""
        clusters = () if side is None else self.source if side == "source" else self.target
        places = [
            *((each, _OF_FLOW) for each in self.own),
            *((each, _OF_CLUSTER) for each in (*clusters, *self.general)),
        ]
        for place, beginnings in places:
            for before in beginnings if side is not None else ("",):
                is_ours = side is None or not before.startswith(_OTHER_SIDE[side])
                if is_ours and place.lines.get(f"{before}{name}", "").strip() == text.strip():
                    yield place, f"{before}{name}"


def holds_comment(text: str) -> bool:
    """Return True for a value that ends in what looks like a comment."""
    return _COMMENT.search(text) is not None


def _advice(text: str) -> str:
    if holds_comment(text):
        return "; in such a file a comment needs a line of its own: take it away from behind the value"
    if _QUOTED.fullmatch(text.strip()):
        return "; the quotes are a part of the value: leave them out"
    return ""
