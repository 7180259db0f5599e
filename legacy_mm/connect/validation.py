"""Judges the configuration of a mirror connector, property by property, in the words of Connect 4.3.

What a flow refuses of a file is an error here, too: the checks are those of `words.mirror_maker_2`. Connect's errors
about classes that have no effect here are left out: a converter, or a login class of the connector itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus

from legacy_mm.base.errors import ConfigurationError, one_line
from legacy_mm.base.option import split_list
from legacy_mm.base.redaction import HIDDEN, Secrets
from legacy_mm.connect import config_definitions
from legacy_mm.connect.config_definitions import BYTES_CONVERTER, BYTES_CONVERTER_NAMES, ConfigDefinition
from legacy_mm.connect.config_secrets import shown_value
from legacy_mm.connect.entities import RELEASE, ConnectRestError, JsonObject
from legacy_mm.connect.plugins import GivenConfig
from legacy_mm.features.naming.policy_names import policy_name
from legacy_mm.words.java_clients.config_providers import Resolved
from legacy_mm.words.mirror_maker_2 import transform_properties
from legacy_mm.words.mirror_maker_2.connector_properties import (
    BY_NAME,
    ONE_CLASS,
    ConnectorKind,
    ConnectorProperty,
    objection,
    typed,
)
from legacy_mm.words.mirror_maker_2.flow_reading import CHECKPOINT_SWITCHES, GROUP_LISTS, no_pattern
from legacy_mm.words.mirror_maker_2.transform_properties import FAMILIES, connect_class

_CLASS, _SUFFIX = "connector.class", "Connector"
_COMMA = re.compile(r"\s*,\s*")
_ALIASES = (*FAMILIES, "topic.creation.groups")
"""Lists of aliases, which may have empty ones and no null."""
_FORMATS, _KNOWN_FORMATS = "metric.names.formats", ("legacy", "new")
_POLICY = "replication.policy.class"
_EXACTLY_ONCE = "exactly.once.support"
_ISOLATION = ("source.consumer.isolation.level", "consumer.isolation.level")
_READS_UNCOMMITTED = (
    "MirrorSourceConnector can only provide exactly-once guarantees when its source consumer is configured with "
    "isolation.level set to 'read_committed'; otherwise, records from aborted and uncommitted transactions will be "
    "replicated from the source cluster to the target cluster."
)
_NULL = "Null value can not be supplied as the configuration value."
_OVERRIDE = "producer.override."
_CONVERTERS = ("header", "key", "value")


@dataclass(slots=True)
class _ConfigValue:
    """A property of a request: its value as Connect types it, and what is wrong with it."""

    name: str
    value: str | None
    errors: list[str] = field(default_factory=list)
    definition: ConfigDefinition | None = None
    recommended: Sequence[str] = ()
    is_visible: bool = True

    def body(self) -> JsonObject:
        """Return an entry of `configs`."""
        value = {
            "name": self.name,
            "value": self.value,
            "recommended_values": list(self.recommended),
            "errors": self.errors,
            "visible": self.is_visible,
        }
        return {"definition": None if self.definition is None else self.definition.body(), "value": value}


LookUp = Callable[[Mapping[str, str]], Resolved]
"""Looks up the references of a configuration; raises ConfigurationError."""


def validate(
    plugin: str, config: GivenConfig, look_up: LookUp = lambda given: Resolved(dict(given), frozenset(), ())
) -> tuple[JsonObject, int]:
    """Return the body of `PUT /connector-plugins/P/config/validate`, and the number of errors in it.

    What a reference stands for is judged, and not shown. Raises ConnectRestError where the class is missing or another
    one.
    """
    written = {name: text for name, text in config.items() if text is not None}
    faults = []
    try:
        given, secrets, _ = look_up(written)
    except ConfigurationError as error:
        given, secrets = written, frozenset()
        faults.append((error.property_name or _CLASS, one_line(error)))
    config = {**config, **given}
    class_name, kind = _connector(plugin, config)
    values = _values(kind, config, given)
    for name, said in (*faults, *_further_errors(kind, config, given, values)):
        values.setdefault(name, _ConfigValue(name, None)).errors.append(said)
    hidden = Secrets(secrets)
    for each in values.values():
        each.errors = list(map(hidden.hidden, each.errors))
        if each.value not in (None, HIDDEN) and written.get(each.name, "") != given.get(each.name, ""):
            each.value = written[each.name]
        each.value = None if each.value is None else hidden.hidden(each.value)
    undefined = [each for each in values.values() if each.definition is None]
    defined = [each for each in values.values() if each.definition is not None]
    overrides = [
        _ConfigValue(name, shown_value(name, text)) for name, text in written.items() if name.startswith(_OVERRIDE)
    ]
    converters = [each for which in _CONVERTERS for each in _of_converter(which, given)]
    groups = (each.definition.group for each in defined if each.definition is not None and each.definition.group)
    count = sum(len(each.errors) for each in values.values())
    body = {
        "name": class_name,
        "error_count": count,
        "groups": list(dict.fromkeys(groups)),
        "configs": [each.body() for each in (*undefined, *defined, *overrides, *converters)],
    }
    return body, count


def _connector(plugin: str, config: GivenConfig) -> tuple[str, ConnectorKind]:
    """Return the class of a configuration, and the connector that it is; raise ConnectRestError for another one."""
    class_name = config.get(_CLASS)
    if class_name is None:  # without values, which may be secrets
        said = f"Connector config {{{', '.join(config)}}} contains no connector type"
        raise ConnectRestError(HTTPStatus.BAD_REQUEST, said)
    if not class_name.removesuffix(_SUFFIX).endswith(plugin.removesuffix(_SUFFIX)):
        said = f"Included connector type {class_name} does not match request type {plugin}"
        raise ConnectRestError(HTTPStatus.BAD_REQUEST, said)
    if (kind := config_definitions.connector_kind(class_name)) is None:
        available = ", ".join(config_definitions.CONNECTOR_CLASSES)
        said = (
            f"Failed to find any class that implements Connector and which name matches {class_name}, available "
            f"connectors are: {available}"
        )
        raise ConnectRestError(HTTPStatus.BAD_REQUEST, said)
    return class_name, kind


def _values(kind: ConnectorKind, config: GivenConfig, given: Mapping[str, str]) -> dict[str, _ConfigValue]:
    """Return the values of all definitions, each judged alone."""
    found = [
        *(_of_row(each, config) for each in (*config_definitions.framework(), *config_definitions.of_sources())),
        *(each for family in FAMILIES for each in _of_aliases(family, given)),
        *(_of_row(each, config) for each in config_definitions.own(kind)),
    ]
    return {each.name: each for each in found}


def _of_row(definition: ConfigDefinition, config: GivenConfig) -> _ConfigValue:
    name = definition.name
    converter = name.removesuffix(".plugin.version")
    is_visible = not name.endswith(".converter.plugin.version") or converter in config
    if name not in config:
        missing = [_missing(name)] if definition.is_required else []
        return _ConfigValue(name, definition.default, missing, definition, is_visible=is_visible)
    row, text = config_definitions.row_of(name), config[name]
    errors: list[str] = []
    value: object = None
    if text is not None:
        try:
            value = typed(row, text)
            value = BYTES_CONVERTER if name.endswith(".converter") and value in BYTES_CONVERTER_NAMES else value
            _require_class(name, text)
        except ValueError as error:
            errors.append(_invalid(name, text, str(error)))
            value = None
    errors += _list_errors(name, value) if row.type == "list" else _errors(row, value)
    return _ConfigValue(name, _shown(definition, value), errors, definition, is_visible=is_visible)


def _of_aliases(family: str, given: Mapping[str, str]) -> Iterator[_ConfigValue]:
    """Yield the properties of the transforms, or of the predicates."""
    known = [connect_class(family, kind) for kind in FAMILIES[family]]
    for alias in dict.fromkeys(_listed(given.get(family, ""))):
        class_name = given.get(f"{family}.{alias}.type", "").strip()
        for each in config_definitions.of_alias(family, alias, class_name):
            text = given.get(each.name)
            value = each.default if text is None else _shown(each, text.strip())
            recommended: Sequence[str] = ()
            if each.name == f"{family}.{alias}.type":
                value, recommended = (connect_class(family, class_name) if class_name else None), known
            elif each.name == f"{family}.{alias}.plugin.version" and each.default:
                recommended = (RELEASE,)
            yield _ConfigValue(each.name, value, [], each, recommended)


def _of_converter(which: str, given: Mapping[str, str]) -> Iterator[_ConfigValue]:
    """Yield the property of the converter that copies bytes, where a configuration names it."""
    if given.get(f"{which}.converter", "").strip() in BYTES_CONVERTER_NAMES:
        yield _ConfigValue(f"{which}.converter.converter.type", which, [], config_definitions.converter_type(which))


def _further_errors(
    kind: ConnectorKind, config: GivenConfig, given: Mapping[str, str], values: Mapping[str, _ConfigValue]
) -> Iterator[tuple[str, str]]:
    """Yield a property and an error, of what several properties say together."""
    of_connector = {each.name for each in (*config_definitions.framework(), *config_definitions.own(kind))}
    yield from ((name, _NULL) for name, text in config.items() if text is None and name not in of_connector)
    yield from ((each.name, each.said) for each in transform_properties.refusals(given))
    if kind == "checkpoint" and values["enabled"].value == "true":
        for name, error in CHECKPOINT_SWITCHES.items():
            if given.get(name, "true").strip().lower() == "false":
                yield name, error
    if kind == "checkpoint":
        for name in GROUP_LISTS:
            if why := no_pattern(split_list(given.get(name, ""))):
                yield name, _invalid(name, given[name], why)
    if kind == "source" and given.get(_EXACTLY_ONCE) == "required":
        level = next((given[name].strip().lower() for name in _ISOLATION if name in given), "")
        if level != "read_committed":
            values[_EXACTLY_ONCE].value = None
            yield _EXACTLY_ONCE, _READS_UNCOMMITTED


def _errors(row: ConnectorProperty, value: object) -> Iterator[str]:
    """Yield what is wrong with a typed value; None: it has none, or no right one."""
    if why := objection(row, value) or _text_error(row.name, value):
        yield _invalid(row.name, "null" if value is None else _java(value), why)


def _text_error(name: str, value: object) -> str:
    if name == "offsets.storage.topic" and value == "":
        return "String must be non-empty"
    if name != "name" or value is None:
        return ""
    controls = [str(ord(sign)) for sign in str(value) if ord(sign) < ord(" ") or ord(sign) == 0x7F]
    if controls:
        return f"String may not contain control sequences but had the following ASCII chars: {', '.join(controls)}"
    return "" if value else "String may not be empty"


def _list_errors(name: str, value: object) -> Iterator[str]:
    """Yield what is wrong with a list, whose rules 4.3 has for all; aliases of transforms are judged elsewhere."""
    if name in _ALIASES:
        listed = [] if value is None else _listed(str(value))
        if value is None:
            yield _invalid(name, "null", "entry must be non null")
        elif name not in FAMILIES and len(listed) > len(set(listed)):
            yield _invalid(name, f"[{', '.join(listed)}]", "Duplicate alias provided.")
        return
    if value is None:
        yield f"Configuration '{name}' values must not be null."
        return
    listed = _listed(str(value))
    if len(listed) > len(set(listed)):
        yield f"Configuration '{name}' values must not be duplicated."
    elif name == _FORMATS:
        if not listed:
            yield f"Configuration '{name}' must not be empty. Valid values include: [{', '.join(_KNOWN_FORMATS)}]"
        elif unknown := [each for each in listed if each not in _KNOWN_FORMATS]:
            yield _invalid(name, unknown[0], f"String must be one of: {', '.join(_KNOWN_FORMATS)}")
    elif "" in listed:
        yield f"Configuration '{name}' values must not be empty."


def _require_class(name: str, text: str) -> None:
    """Raise ValueError for a class that nobody can run here."""
    is_known = True
    if name in ONE_CLASS:
        is_known = text.strip().rpartition(".")[2] == BY_NAME[name].default.rpartition(".")[2]
    elif name == _POLICY:
        try:
            policy_name(text.strip())
        except ConfigurationError:
            is_known = False
    if not is_known:
        raise ValueError(f"Class {text} could not be found.")


def _shown(definition: ConfigDefinition, value: object) -> str | None:
    if value is None:
        return None
    if definition.type == "PASSWORD":
        return HIDDEN
    return ",".join(_listed(str(value))) if definition.type == "LIST" else _java(value)


def _java(value: object) -> str:
    """Return a value as Java writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _listed(text: str) -> list[str]:
    trimmed = text.strip()
    return _COMMA.split(trimmed) if trimmed else []


def _missing(name: str) -> str:
    return f'Missing required configuration "{name}" which has no default value.'


def _invalid(name: str, text: str, why: str) -> str:
    return f"Invalid value {text} for configuration {name}: {why}"
