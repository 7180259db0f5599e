"""Names without an effect that look like one of ours, with the name that was probably meant, wherever they are written.

Keys of other programs are not reported: those of every Kafka client, of the old clients, of brokers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from legacy_mm.base.option import ENVIRONMENT_PREFIX, environment_variable
from legacy_mm.features.rows import BY_NAME, WITHOUT_EFFECT, is_flag
from legacy_mm.words.java_clients.client_properties.apply import RULES
from legacy_mm.words.java_clients.client_properties.native import NATIVE_PREFIX
from legacy_mm.words.java_clients.properties_file import PropertiesFile
from legacy_mm.words.legacy_tool import zookeeper_files
from legacy_mm.words.legacy_tool.releases import Grammar
from legacy_mm.words.legacy_tool.variables import VARIABLES
from legacy_mm.words.options.meant import meant
from legacy_mm.words.options.option_catalogue import ALL_OPTIONS, option_called
from legacy_mm.words.options.unbuilt import is_unbuilt

_FLAGS = (*BY_NAME, *WITHOUT_EFFECT)
_OPTIONS = (*(row.name for row in ALL_OPTIONS), *BY_NAME)
_OTHER_PEOPLES = ("offsets.topic.replication.factor", "offset.storage.replication.factor", "topic.creation.enable")
"""Names of brokers and of Kafka Connect."""


@cache
def _of_clients() -> frozenset[str]:
    rules = {rule.name for rows in RULES.values() for rule in rows}
    return frozenset(rules.union(zookeeper_files.NAMES, _OTHER_PEOPLES))


def in_file(file: PropertiesFile, grammar: Grammar) -> Iterator[str]:
    """Yield a message for each misspelt key of a client's file."""
    for name in file.properties:
        if name in _of_clients() or is_flag(name) or is_unbuilt(name) or name.startswith(NATIVE_PREFIX):
            continue
        if name in grammar.options or option_called(name) is not None:
            where = "the command line" if name in grammar.options else "the command line or --features.config"
            yield f"{file.place(name)}: {name} has no effect in a client's file: it is an option of {where}"
        elif probably := meant(name, _FLAGS):
            yield f"{file.place(name)}: {name} has no effect: {probably} was probably meant"


def in_variables(variables: Mapping[str, str]) -> Iterator[str]:
    """Yield a message for each variable of ours that no option has."""
    options = [environment_variable(name) for name in _OPTIONS]
    known = {*options, *(row.name for row in VARIABLES)}
    for name in sorted(variables):
        if name.startswith(ENVIRONMENT_PREFIX) and name not in known and (probably := meant(name, options)):
            yield f"The variable {name} has no effect: {probably} was probably meant"


def option(name: str, legacy: Iterable[str]) -> str:
    """Return a message about an option that is neither the legacy tool's nor ours; empty if no name is similar."""
    probably = meant(name, (*legacy, *_OPTIONS))
    return f"--{name} is no option: --{probably} was probably meant." if probably else ""


def in_options_file(name: str, legacy: Iterable[str]) -> str:
    """Return a message about a key of `--features.config`."""
    if name in legacy:
        return f"{name} is an option of the legacy tool, which belongs on the command line: --{name}"
    probably = meant(name, _OPTIONS)
    said = f"{name} is not an option of legacy-mm"
    return f"{said}: {probably} was probably meant" if probably else said
