"""The definitions of the mirror connectors' properties, as Connect 4.3 lists them, and of the plug-ins beside them.

Types and defaults are those of `connector_properties`, the rest is in `definition_rows`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Literal

from legacy_mm.base.option import split_list
from legacy_mm.connect.definition_rows import (
    BASE,
    FRAMEWORK,
    HIGH,
    KEY_SENTENCES,
    MEDIUM,
    NO_EFFECT,
    OF_SOURCES,
    OWN,
    SENTENCES,
)
from legacy_mm.connect.entities import RELEASE, ConnectRestError, JsonObject
from legacy_mm.features.naming.flags import EXCLUDED
from legacy_mm.features.rows import BY_NAME as FLAGS
from legacy_mm.words.mirror_maker_2.connector_properties import (
    CHECKED,
    CONNECTORS,
    OF_4_3,
    PACKAGE,
    REQUIRED,
    ConnectorKind,
    ConnectorProperty,
    is_client_name,
    kind_of,
)
from legacy_mm.words.mirror_maker_2.transform_properties import FAMILIES, KEYS, connect_class

Importance = Literal["HIGH", "MEDIUM", "LOW"]
CONNECTOR_CLASSES = tuple(sorted(f"{PACKAGE}{name}" for name in CONNECTORS.values()))
BYTES_CONVERTER = "org.apache.kafka.connect.converters.ByteArrayConverter"
BYTES_CONVERTER_NAMES = (BYTES_CONVERTER, BYTES_CONVERTER.rpartition(".")[2])
"""The only converter that is listed: every converter copies bytes here. Its whole name, and its short one."""
_ROWS: Mapping[str, ConnectorProperty] = {row.name: row for row in (*CHECKED, *OF_4_3)}


@dataclass(frozen=True, slots=True)
class ConfigDefinition:
    """One property as a form shows it."""

    name: str
    type: str
    """A word of Connect's `ConfigDef.Type`."""
    default: str | None
    """The value without a line; None: there is none."""
    documentation: str
    importance: Importance = "LOW"
    is_required: bool = False
    group: str | None = None
    order: int = -1
    width: str = "NONE"
    display_name: str = ""
    """The label in a form; empty: its name."""

    def body(self) -> JsonObject:
        """Return it as `GET /connector-plugins/P/config` does, with the name of `order` up to 4.2 beside today's."""
        return {
            "name": self.name,
            "type": self.type,
            "required": self.is_required,
            "default_value": self.default,
            "importance": self.importance,
            "documentation": self.documentation,
            "group": self.group,
            "order": self.order,
            "order_in_group": self.order,
            "width": self.width,
            "display_name": self.display_name or self.name,
            "dependents": [],
        }


_CLIENTS = tuple(row.name for row in OF_4_3 if row.name != "security.protocol" and is_client_name(row.name))
_EXCLUDED_HERE: Mapping[str, str] = {
    "topics.exclude": EXCLUDED["3.9"],
    "groups.exclude": FLAGS["groups.exclude"].option.default or "",
    "config.properties.exclude": FLAGS["config.properties.exclude"].option.default or "",
}
"""The lists that count without a line."""
LABELS: Mapping[str, str] = {"transforms": "Transformation", "predicates": "Predicate"}


def definitions(kind: ConnectorKind) -> list[ConfigDefinition]:
    """Return the definitions of a connector in the order of the list of its plug-in."""
    return [*framework(), *own(kind), *of_sources()]


def framework() -> list[ConfigDefinition]:
    """Return the definitions of any connector."""
    return [_of_framework(*row) for row in FRAMEWORK]


def of_sources() -> list[ConfigDefinition]:
    """Return the definitions of any source connector."""
    return [_of_framework(*row) for row in OF_SOURCES]


def own(kind: ConnectorKind) -> list[ConfigDefinition]:
    """Return the definitions that only connectors of MirrorMaker 2 have."""
    return [_definition(name, _sentence(name)) for name in (*BASE, *_CLIENTS, *OWN[kind])]


def of_alias(family: str, alias: str, class_name: str) -> list[ConfigDefinition]:
    """Return the definitions that an alias of a transform or a predicate brings, of a class that is a step here."""
    prefix, label = f"{family}.{alias}.", LABELS[family]
    group = f"{family.capitalize()}: {alias}"
    kind = next((kind for kind in FAMILIES[family] if class_name in (kind, connect_class(family, kind))), "")
    known = kind != ""
    found = [
        _Alias("type", "CLASS", None, f"The class of the {label.lower()}.", "HIGH", f"{label} type for {alias}"),
        _Alias(
            "plugin.version",
            "STRING",
            RELEASE if known else None,
            f"{NO_EFFECT}each class is there in one version.",
            "HIGH",
            f"{label} version for {alias}",
        ),
    ]
    if known:
        found += [_Alias.of_key(family, kind, key) for key in sorted(KEYS[family][kind])]
    if known and family == "transforms":
        found += [
            _Alias("negate", "BOOLEAN", "false", "Whether it acts on the records that do not match.", "MEDIUM"),
            _Alias("predicate", "STRING", None, "The alias of the predicate that tells its records.", "MEDIUM"),
        ]
    return [each.definition(prefix, group, order) for order, each in enumerate(found)]


def plugin_definitions(plugin: str) -> list[JsonObject]:
    """Return the body of `GET /connector-plugins/P/config`; raises ConnectRestError for an unknown plug-in."""
    if (kind := connector_kind(plugin)) is not None:
        return [each.body() for each in definitions(kind)]
    for family, kinds in FAMILIES.items():
        for name in kinds:
            if plugin in (name, connect_class(family, name)):
                rows = [_Alias.of_key(family, name, key) for key in KEYS[family][name]]
                return [each.definition("", None, -1).body() for each in rows]
    if plugin in BYTES_CONVERTER_NAMES:
        return [converter_type("").body()]
    raise ConnectRestError(HTTPStatus.NOT_FOUND, f"Unknown plugin {plugin}.")


def converter_type(which: str) -> ConfigDefinition:
    """Return the only definition of the converter that copies bytes; `which`: key, value or header, or empty."""
    row = _Alias("converter.type", "STRING", None, f"{NO_EFFECT}keys, values and headers are copied.", "LOW")
    return row.definition(f"{which}.converter." if which else "", None, -1)


def connector_kind(class_name: str) -> ConnectorKind | None:
    """Return the connector that a class is, by its whole name or a short one; None: there is no such class."""
    is_ours = class_name.startswith(PACKAGE) or "." not in class_name
    return kind_of(class_name) if is_ours else None


@dataclass(frozen=True, slots=True)
class _Alias:
    """A property of a transform or a predicate, without the prefix of its alias."""

    name: str
    type: str
    default: str | None
    documentation: str
    importance: Importance
    label: str = ""

    @classmethod
    def of_key(cls, family: str, kind: str, key: str) -> _Alias:
        """Return a setting of a class."""
        importance: Importance = "HIGH" if family == "transforms" else "MEDIUM"
        of_type = "LIST" if key == "headers" else "STRING"
        return cls(key, of_type, KEYS[family][kind][key], KEY_SENTENCES[key], importance)

    def definition(self, prefix: str, group: str | None, order: int) -> ConfigDefinition:
        """Return it with the prefix of an alias."""
        is_required = self.default is None and self.name not in ("plugin.version", "predicate")
        return ConfigDefinition(
            f"{prefix}{self.name}",
            self.type,
            self.default,
            self.documentation,
            self.importance,
            is_required=is_required,
            group=group,
            order=order,
            width="LONG" if self.label else "NONE",
            display_name=self.label or self.name,
        )


def row_of(name: str) -> ConnectorProperty:
    """Return the row with the type and the default of a property that is none of an alias."""
    return _ROWS[name]


def _of_framework(name: str, group: str, order: int, width: str, label: str, sentence: str) -> ConfigDefinition:
    return _definition(name, sentence, group, order, width, label)


def _definition(
    name: str, sentence: str, group: str | None = None, order: int = -1, width: str = "NONE", label: str = ""
) -> ConfigDefinition:
    row = _ROWS[name]
    of_type = "STRING" if "|" in row.type else row.type.upper()
    importance: Importance = "HIGH" if name in HIGH else "MEDIUM" if name in MEDIUM else "LOW"
    return ConfigDefinition(
        name, of_type, _default(row), sentence, importance, name in REQUIRED, group, order, width, label
    )


def _default(row: ConnectorProperty) -> str | None:
    if row.name in _EXCLUDED_HERE:
        return ",".join(split_list(_EXCLUDED_HERE[row.name]))
    return row.default if row.default or row.type == "list" else None


def _sentence(name: str) -> str:
    if is_client_name(name):
        return f"{NO_EFFECT}write source.cluster.{name} and target.cluster.{name}, which clients read."
    return SENTENCES[name]
