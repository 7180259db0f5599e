"""The options and flags that are not as they are by default, as a person may see them: without secrets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from legacy_mm.base.option import OptionValue
from legacy_mm.base.redaction import HIDDEN, is_secret_property
from legacy_mm.connect.start_words import OF_PROCESS
from legacy_mm.logs import root_logger
from legacy_mm.words.mirror_maker_2.connect_files import ConnectorFile
from legacy_mm.words.mirror_maker_2.connector_properties import BY_NAME, is_own_flag
from legacy_mm.words.mirror_maker_2.flow_reading import FlowReading
from legacy_mm.words.options.option_catalogue import option_called

DEFAULT = "default"
BY_REQUEST = "a request"
"""The origin of a value that no file has."""
_OF_CLIENTS = ("source.admin", "target.admin", "spark.conf")
"""Options whose values are properties of clients or of Spark."""


def shown(options: Iterable[OptionValue]) -> Iterator[OptionValue]:
    """Yield options as a page may show them, by name: no secret, and no value of a property of a client."""
    for each in sorted(options):
        row = option_called(each.option)
        is_hidden = is_secret_property(each.option) or (row is not None and row.name in _OF_CLIENTS)
        yield each._replace(value=HIDDEN if is_hidden else root_logger.hidden(each.value))


def of_driver(reading: FlowReading, connectors: Sequence[ConnectorFile]) -> list[OptionValue]:
    """Return what the lines of a driver's file, and requests since, give to the connectors of a flow."""
    found: dict[str, OptionValue] = {}
    now = {each.kind: each.properties for each in connectors}
    for kind, written in reading.properties.items():
        for name, text in now.get(kind, written).items():
            is_flag = kind == "source" and is_own_flag(name)
            if is_flag or (name in BY_NAME and BY_NAME[name].belongs_to(kind)):
                place = reading.place(name) if written.get(name) == text else BY_REQUEST
                if place:
                    found[name] = OptionValue(name, text.strip(), place)
    return [*found.values()]


class ProcessOptions:
    """The options of the whole process. They are read at the start, and again with each reload."""

    def __init__(self, read: Callable[[], Sequence[OptionValue]]) -> None:
        self._read = read
        self._given = self._named()

    def read_again(self) -> None:
        """Note what a reload has found; options for which the process would have to start again stay."""
        there = {name: each for name, each in self._given.items() if name in OF_PROCESS}
        self._given = {name: each for name, each in self._named().items() if name not in OF_PROCESS} | there

    def given(self) -> Iterable[OptionValue]:
        """Return those that are not as they are by default."""
        return self._given.values()

    def _named(self) -> dict[str, OptionValue]:
        return {each.option: each for each in self._read() if each.origin != DEFAULT}
