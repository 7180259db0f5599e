"""A validation says what Connect 4.3.0 says; each difference is named with its reason."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

import pytest

from legacy_mm.base.redaction import HIDDEN
from legacy_mm.connect.entities import ConnectRestError
from legacy_mm.connect.validation import validate
from legacy_mm.words.mirror_maker_2.connect_files import ConnectorFile, flows_of
from legacy_mm.words.mirror_maker_2.connector_properties import kind_of
from tests.fixtures.connect_plugins import OTHER_DEFAULTS, RECORDED, without_ours

PACKAGE = "org.apache.kafka.connect.mirror."
CASES: dict[str, dict[str, Any]] = {row["case"]: row for row in RECORDED["validations"]}
_CONVERTER = "a converter has no effect here, so no class of one is refused, and only that for bytes has definitions"
_REGEX = "only Java reads a Java pattern: it is read when the connector starts"
_OVERRIDE = "a client's override is not defined here"
KNOWN = {
    "unknown class of mirror": "the connector that KIP-382 promised is read as the source connector",
    "converter unknown": _CONVERTER,
    "converter json": _CONVERTER,
    "converter no converter": _CONVERTER,
    "transform without regex": "Java's second sentence is about a null pointer",
    "predicate without pattern": "the same",
    "transform bad regex": _REGEX,
    "transform unknown": "a class of a jar is looked for when the connector starts",
    "predicate unknown alias": "Connect finds it when the task starts",
    "bad groups": "Connect finds it when the connector starts",
    "producer override": _OVERRIDE,
    "producer override bad": _OVERRIDE,
    "producer override password": _OVERRIDE,
    "admin override with topic creation": _OVERRIDE,
    "plugin version other": "there is one version of each plug-in",
    "no class": "the values of the configuration may be secrets",
}
CLASSES_WITHOUT_EFFECT = ("converter", "sasl.", "ssl.", "plugin.version")
"""Parts of names whose classes and versions are not looked for: they have no effect."""


def entries(body: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the entries of a validation by name, without what is ours."""
    found = {}
    for each in body["configs"]:
        value = {name: text for name, text in each["value"].items() if name != "recommended_values"}
        definition = without_ours(each["definition"])
        if value["name"] in OTHER_DEFAULTS and definition is not None:
            definition["default_value"] = value["value"] = None
        found[value["name"]] = {"definition": definition, "value": value}
    return found


def base_of(row: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the entries of the valid configuration of a connector, which are in the definitions, too."""
    kind = kind_of(row["name"])
    name = "valid" if kind == "source" else f"valid {kind}"
    return entries(validate(CASES[name]["plugin"], CASES[name]["config"])[0])


@pytest.mark.parametrize("row", [row for name, row in CASES.items() if name not in KNOWN], ids=lambda row: row["case"])
def test_connect_s_answer(row: dict[str, Any]) -> None:
    if "error" in row:
        with pytest.raises(ConnectRestError) as caught:
            validate(row["plugin"], row["config"])
        assert caught.value.message.startswith(row["error"])
        assert caught.value.status == HTTPStatus.BAD_REQUEST
        return
    body, count = validate(row["plugin"], row["config"])
    assert (body["name"], body["error_count"], count) == (row["name"], row["error_count"], row["error_count"])
    assert body["groups"] == row["groups"]
    assert len(body["configs"]) == row["entries"]
    found = entries(body)
    if "order" in row:
        assert [each["value"]["name"] for each in body["configs"]] == row["order"]
    wanted = {each["value"]["name"]: each for each in row["changed"]}
    assert {name: found[name] for name in wanted} == wanted
    base = base_of(row)
    assert {name for name in found if found[name] != base.get(name)} <= wanted.keys()


@pytest.mark.parametrize("name", KNOWN)
def test_a_known_difference_is_one(name: str) -> None:
    row = CASES[name]
    try:
        body, _ = validate(row["plugin"], row["config"])
    except ConnectRestError as error:
        assert error.message != row["error"], "it is equal: take it out of the table"
        return
    found = entries(body)
    wanted = {each["value"]["name"]: each for each in row.get("changed", ())}
    assert {each: found.get(each) for each in wanted} != wanted or "error" in row, "it is equal: take it out"


VALUES = [
    (kind, name, answers)
    for kind, by_name in RECORDED["values"].items()
    for name, answers in by_name.items()
    if not (name.endswith(("class", "converter", "version")) and any(each in name for each in CLASSES_WITHOUT_EFFECT))
]
HUGE, ANY_CLASS = "99999999999999999999", "java.lang.String"
"""A double of that size is written otherwise in Java; a class that is there, and that nobody can use."""


@pytest.mark.parametrize(("kind", "name", "answers"), VALUES, ids=lambda value: value if isinstance(value, str) else "")
def test_each_value_of_a_property(kind: str, name: str, answers: list[tuple[Any, Any, list[str]]]) -> None:
    config = {"name": "n", "connector.class": f"{PACKAGE}Mirror{kind}Connector", "source.cluster.alias": "A"}
    for text, value, errors in answers:
        if (text == HUGE and value is not None and "E" in value) or (text == ANY_CLASS and name.endswith(".class")):
            continue
        body, count = validate(f"Mirror{kind}", {**config, name: text})
        (found,) = [each["value"] for each in body["configs"] if each["value"]["name"] == name]
        said = [error for each in body["configs"] for error in each["value"]["errors"]]
        assert (text, found["value"], sorted(said), count) == (text, value, sorted(errors), len(errors))


def config_of(kind: str, **more: str) -> dict[str, str]:
    aliases = {"source.cluster.alias": "A", "target.cluster.alias": "B"}
    named = {name.replace("_", "."): text for name, text in more.items()}
    return {"name": "n", "connector.class": f"{PACKAGE}Mirror{kind}Connector", **aliases, **named}


@pytest.mark.parametrize(
    "config",
    [
        config_of("Source", tasks_max="0"),
        config_of("Source", enabled="perhaps"),
        config_of("Source", errors_tolerance="ALL"),
        config_of("Source", security_protocol="TLS"),
        config_of("Source", transforms="a"),
        config_of("Source", transforms="a,a", transforms_a_type="Filter"),
        config_of("Source", transforms="a", transforms_a_type="Filter", transforms_a_negate="x"),
        config_of("Source", transforms="a", transforms_a_type="Filter", transforms_a_predicate="x"),
        config_of("Source", predicates="a", predicates_a_type="TopicNameMatches"),
        config_of("Checkpoint", groups="*"),
        config_of("Checkpoint", groups_exclude="a,*"),
        config_of("Checkpoint", emit_checkpoints_enabled="false"),
        {**config_of("Checkpoint"), "emit.offset-syncs.enabled": "false"},
        {**config_of("Checkpoint"), "offset-syncs.topic.location": "A"},
    ],
    ids=lambda config: list(config)[-1],
)
def test_what_a_file_is_refused_for_is_an_error(config: dict[str, str]) -> None:
    kind = kind_of(config["connector.class"])
    assert kind is not None
    package = "org.apache.kafka.connect.transforms."
    types = {"Filter": f"{package}Filter", "TopicNameMatches": f"{package}predicates.TopicNameMatches"}
    config = {name: types.get(text, text) for name, text in config.items()}
    (reading,) = flows_of({}, [ConnectorFile("", kind, config)])
    assert kind in reading.refusals
    assert validate(config["connector.class"], config)[1] > 0


def test_no_secret_is_in_an_answer() -> None:
    secrets = ("producer.override.sasl.jaas.config", "ssl.keystore.password", "source.cluster.ssl.key.password")
    body, count = validate("MirrorSource", {**config_of("Source"), **dict.fromkeys(secrets, "s3cret")})
    assert count == 0
    assert "s3cret" not in json.dumps(body)
    assert [each["value"]["value"] for each in body["configs"] if each["value"]["name"] in secrets] == [HIDDEN, HIDDEN]


def test_a_control_character_around_a_value_is_a_blank_as_in_java() -> None:
    body, count = validate(
        "MirrorSourceConnector", {"connector.class": f"{PACKAGE}MirrorSourceConnector", "name": " \u0001"}
    )
    (name,) = (each["value"] for each in body["configs"] if each["value"]["name"] == "name")
    assert (name["value"], name["errors"]) == ("", ["Invalid value  for configuration name: String may not be empty"])
    assert count
