"""Strimzi's resources become workers and connectors; public ones mean what a reading of the operator says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.kafka_clients import SecurityProtocol
from legacy_mm.words.legacy_tool.client_translation import ClientTranslation
from legacy_mm.words.legacy_tool.environment import Environment
from legacy_mm.words.mirror_maker_2.connect_files import ConnectFiles, ConnectorFile, connector_of, flows_of, load
from legacy_mm.words.mirror_maker_2.connect_line import ConnectLine
from legacy_mm.words.mirror_maker_2.flow_reading import DEFAULT_LIST, FlowReading, ListWords
from legacy_mm.words.mirror_maker_2.flow_translation import translate_flow
from legacy_mm.words.mirror_maker_2.strimzi_files import is_resource
from legacy_mm.words.mirror_maker_2.strimzi_files import load as read_resources
from legacy_mm.words.options.option_catalogue import OwnOptions

RECORDED = Path(__file__).parents[4] / "compat" / "recorded" / "facts" / "mm2_files.json"
FILES = [row for row in json.loads(RECORDED.read_text()) if row["kind"] == "strimzi"]
UNTERMINATED = "strimzi-unterminated"
OWN_CLASS = ("strimzi-alpha-custom", "source")
"""Its image brings the policy, which probably keeps names: a class that nobody knows here is refused, with advice."""
V1 = """
kind: KafkaMirrorMaker2
metadata: {name: m, namespace: ns}
spec:
  target: {alias: B, bootstrapServers: "b:1", groupId: g, configStorageTopic: c, offsetStorageTopic: o,
    statusStorageTopic: s}
  mirrors:
  - source: {alias: A, bootstrapServers: "a:1"}
    sourceConnector: {}
"""


def text_of(row: dict[str, Any]) -> str:
    (text,) = row["files"].values()
    return f'{text.rstrip()}"\n' if row["id"] == UNTERMINATED else text


def write(folder: Path, text: str, name: str = "mm2.yaml") -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def files_of(folder: Path, *paths: str) -> ConnectFiles:
    return load(ConnectLine("", (), (), paths, str(folder / "secrets")))


def mount(folder: Path, secret: str, **keys: str) -> None:
    (folder / "secrets" / secret).mkdir(parents=True)
    for key, text in keys.items():
        (folder / "secrets" / secret / key.replace("_", ".")).write_text(text)


def mount_all(folder: Path, text: str) -> None:
    """Make every Secret of a resource a folder; each key holds its own name."""

    def secrets(part: object) -> None:
        if isinstance(part, list):
            for each in part:
                secrets(each)
        elif isinstance(part, dict):
            if "secretName" in part:
                place = folder / "secrets" / part["secretName"]
                place.mkdir(parents=True, exist_ok=True)
                for key in ("certificate", "key", "password", "pattern"):
                    name = part.get(key, "").replace("*", "ca")
                    if name:
                        (place / name).write_text(f"{name} of {part['secretName']}")
            for each in part.values():
                secrets(each)

    secrets(yaml.safe_load(text))


def listed(words: ListWords) -> dict[str, Any]:
    return {"include": list(words.include), "exclude": DEFAULT_LIST if words.exclude is None else list(words.exclude)}


def policy(reading: FlowReading) -> dict[str, str]:
    words = reading.policy()
    separator = {} if words.separator is None else {"separator": words.separator}
    return {"class": words.name, **separator, "t_becomes": words.t_becomes or ""}


@pytest.mark.parametrize("row", FILES, ids=[row["id"] for row in FILES])
def test_a_public_resource(row: dict[str, Any], tmp_path: Path) -> None:
    expected, text = row["expect"], text_of(row)
    mount_all(tmp_path, text)
    files = files_of(tmp_path, write(tmp_path, text))
    assert files.worker.items() >= expected["worker"].items()
    assert [[each.pair.source, each.pair.target, each.copies] for each in files.flows()] == expected["flows"]
    order = [each["connector"] for each in expected["connectors"]]
    connectors = sorted(files.connectors, key=lambda each: order.index(each.kind))
    for connector, of_connector in zip(connectors, expected["connectors"], strict=True):
        assert (connector.properties["name"], connector.kind) == (of_connector["name"], of_connector["connector"])
        (reading,) = flows_of(files.worker, [connector])
        name = f"{connector.kind} ({reading.pair})"
        assert reading.text(connector.kind, "tasks.max") == of_connector["tasks_max"]
        assert reading.features() == expected["features"][name]
        if connector.kind == "source":
            assert listed(reading.topics()) == expected["topics"][name]
        if connector.kind == "checkpoint":
            assert listed(reading.groups()) == expected["groups"][name]
        becomes = {"t_becomes": ""} if (row["id"], connector.kind) == OWN_CLASS else {}
        assert policy(reading) == expected["policy"][name] | becomes
        assert_logins(connector, expected["clusters"])


def assert_logins(connector: ConnectorFile, clusters: dict[str, dict[str, str]]) -> None:
    for side in ("source", "target"):
        given = connector.properties
        wanted = clusters[given[f"{side}.cluster.alias"]]
        assert given[f"{side}.cluster.security.protocol"] == wanted["security.protocol"]
        if wanted.get("mechanism") == "mTLS":
            assert given[f"{side}.cluster.ssl.keystore.key"].startswith("user.key of ")
        else:
            assert given.get(f"{side}.cluster.sasl.mechanism") == wanted.get("mechanism")
        if "SASL" in wanted["security.protocol"]:
            assert 'password="password of ' in given[f"{side}.cluster.sasl.jaas.config"]
        if "SSL" in wanted["security.protocol"]:
            assert "ca.crt of " in given[f"{side}.cluster.ssl.truststore.certificates"]


def test_a_quote_that_does_not_end(tmp_path: Path) -> None:
    (row,) = [row for row in FILES if row["id"] == UNTERMINATED]
    (text,) = row["files"].values()
    path = write(tmp_path, text)
    with pytest.raises(ConfigurationError) as caught:
        files_of(tmp_path, path)
    assert str(caught.value) == (
        f"{path} is not YAML: while scanning a quoted scalar, line 68; found unexpected end of stream, line 69"
    )
    with pytest.raises(ConfigurationError, match="it holds characters that no YAML has"):
        files_of(tmp_path, write(tmp_path, "a: \0"))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("kind: KafkaMirrorMaker2", "kind: KafkaConnect", "has no resource of kind KafkaMirrorMaker2"),
        ("spec:", "other:", r"mm2\.yaml\.spec is missing"),
        ("    sourceConnector: {}\n", "", r"spec\.mirrors has no connector"),
        (
            "sourceConnector: {}",
            "sourceConnector: {state: off}",
            r"sourceConnector\.state=false is not possible: choose",
        ),
        ("sourceConnector: {}", "sourceConnector: {state: halted}", r"state=halted is not possible: choose running, "),
        ("sourceConnector: {}", "sourceConnector: 5", "sourceConnector is not a section with fields"),
        (
            "sourceConnector: {}",
            "sourceConnector: {config: {topics: }}",
            r"config\.topics is no text, number or boolean",
        ),
        (
            "sourceConnector: {}",
            "sourceConnector: {config: {topics: [a]}}",
            r"config\.topics is no text, number or bool",
        ),
        ("- source: {alias: A, ", "- source: {", r"mirrors\[0\]\.source\.alias is missing: Strimzi requires it"),
        (
            "- source: {",
            "- targetCluster: C\n    source: {",
            r"targetCluster=C is not the target B: write a resource for",
        ),
        ('- source: {alias: A, bootstrapServers: "a:1"}', "- sourceCluster: A", r"sourceCluster=A is not in spec"),
        (
            "target: {alias: B",
            "connectCluster: C\n  clusters:\n  - {alias: B",
            r"connectCluster=C is not in .*clusters",
        ),
        ("target: {alias: B", "clusters: {alias: B", r"spec\.clusters is not a list"),
        (
            '"a:1"}',
            '"a:1", authentication: {type: kerberos}}',
            r"source\.authentication\.type=kerberos is not possible: possible are tls, plain, .*, custom; with custom",
        ),
        (
            '"a:1"}',
            '"a:1", authentication: {type: oauth, tlsTrustedCertificates: [{secretName: x, certificate: y}]}}',
            r"authentication\.tlsTrustedCertificates is not possible: write type custom",
        ),
    ],
)
def test_refused(old: str, new: str, why: str, tmp_path: Path) -> None:
    assert old in V1
    with pytest.raises(ConfigurationError, match=why):
        files_of(tmp_path, write(tmp_path, V1.replace(old, new)))


def test_several_documents_and_files(tmp_path: Path) -> None:
    """Each resource is a worker of its own; resources of other kinds are none of ours."""
    back = V1.replace("alias: B", "alias: X").replace("alias: A", "alias: B").replace("groupId: g", "groupId: back")
    listed_ones = {"kind": "List", "items": [yaml.safe_load(V1.replace("alias: A", "alias: C")), {"kind": "KafkaUser"}]}
    first = write(tmp_path, f"kind: Secret\n---{V1}---{back}---\n")
    second = write(tmp_path, yaml.safe_dump(listed_ones), "more.yml")
    files = files_of(tmp_path, first, second)
    assert [str(each.pair) for each in files.flows()] == ["A->B", "B->X", "C->B"]
    assert [each.worker["group.id"] for each in files.flows()] == ["g", "back", "g"]
    assert [is_resource(each) for each in (first, second, "w.properties")] == [True, True, False]


def test_what_does_not_run(tmp_path: Path) -> None:
    """`pause` is the older word; without anything to run the command ends."""
    path = write(tmp_path, V1.replace("sourceConnector: {}", "sourceConnector: {pause: true}"))
    files = files_of(tmp_path, path)
    assert [each.state for each in files.connectors] == ["paused"]
    said = f"{path} A->B.MirrorSourceConnector is paused by its file, and does not run"
    assert said in files.remarks
    with pytest.raises(ConfigurationError) as caught:
        files.flows()
    assert str(caught.value) == f"nothing would run: {said}; with --admin.port it starts, and they can be resumed"
    assert [str(each.pair) for each in files.flows(OwnOptions(admin_port=1))] == ["A->B"]
    more = "sourceConnector: {}\n    checkpointConnector: {state: Stopped}"
    (reading,) = files_of(tmp_path, write(tmp_path, V1.replace("sourceConnector: {}", more))).flows()
    assert (sorted(reading.present), reading.has_checkpoints) == (["source"], False)


def test_what_has_no_effect_is_said_once(tmp_path: Path) -> None:
    more = "spec:\n  version: 4.3.0\n  image: x\n  replicas: 3\n  logging: {type: inline}\n  config: {a: b}\n"
    operators = "sourceConnector: {tasksMax: 2, autoRestart: {enabled: true}, config: {name: n, topics: t}}"
    text = V1.replace("spec:\n", more).replace("sourceConnector: {}", operators)
    text = text.replace("statusStorageTopic: s}", "statusStorageTopic: s,\n    config: {group.id: other, sasl.x: y}}")
    path = write(tmp_path, text)
    files = files_of(tmp_path, path)
    (connector,) = files.connectors
    assert (connector.properties["name"], connector.properties["tasks.max"]) == ("A->B.MirrorSourceConnector", "2")
    assert (files.worker["group.id"], "sasl.x" in files.worker) == ("g", False)
    assert files.remarks == (
        f"{path}: spec.version, spec.image: for pods, and without effect here",
        f"{path}: spec.replicas has no effect here: start the command once for each replica: the processes of a group "
        "share the work",
        f"{path}: spec.logging has no effect here: KAFKA_LOG4J_OPTS names a file of loggers",
        f"{path}: spec.config: Strimzi has no such field, and nothing reads it here",
        f"{path}.spec.target.config: group.id, sasl.x: Strimzi passes them to no worker, and neither do we",
        f"{path}.spec.mirrors[0].sourceConnector: autoRestart: for Strimzi's operator, and without effect here",
        f"{path}.spec.mirrors[0].sourceConnector.config: name: Strimzi passes them to no connector",
    )


def test_patterns_win_over_the_config(tmp_path: Path) -> None:
    patterns = "topicsPattern: p, topicsBlacklistPattern: old, topicsExcludePattern: new, groupsBlacklistPattern: g"
    text = V1.replace("- source: {", f"- {patterns.replace(', ', chr(10) + '    ')}\n    source: {{")
    text = text.replace("sourceConnector: {}", "sourceConnector: {config: {topics: t, topics.exclude: x}}")
    text += "    checkpointConnector: {}\n"
    source, checkpoint = files_of(tmp_path, write(tmp_path, text)).connectors
    assert (source.properties["topics"], source.properties["topics.exclude"]) == ("p", "new")
    assert (checkpoint.properties["groups.exclude"], source.of_others) == ("g", ())


def test_a_login_of_another_kind(tmp_path: Path) -> None:
    config = "config: {sasl.mechanism: GSSAPI, ssl.keystore.type: PEM, linger.ms: 5}"
    custom = f'"a:1", tls: {{}}, authentication: {{type: custom, sasl: true, {config}}}}}'
    (connector,) = files_of(tmp_path, write(tmp_path, V1.replace('"a:1"}', custom))).connectors
    given = connector.properties
    assert given["source.cluster.security.protocol"] == "SASL_SSL"
    assert (given["source.cluster.sasl.mechanism"], given["source.cluster.ssl.keystore.type"]) == ("GSSAPI", "PEM")
    assert "source.cluster.linger.ms" not in given


def test_a_login_with_tokens(tmp_path: Path) -> None:
    """The options reach our own login, and what it cannot do is refused there."""
    secret = "clientSecret: {secretName: app, key: key}"
    login = f"type: oauth, clientId: me, tokenEndpointUri: 'https://tokens/x', scope: s, {secret}"
    more = ", saslExtensions: {a: b}, httpRetries: 3, disableTlsHostnameVerification: false"
    mount(tmp_path, "app", key="p4ss")
    texts = [V1.replace('"a:1"}', f'"a:1", tls: {{}}, authentication: {{{login}{each}}}}}') for each in (more, "")]
    texts[1] = texts[1].replace("scope: s", "disableTlsHostnameVerification: true")
    clients = ClientTranslation(Environment(), OwnOptions())
    (reading,) = files_of(tmp_path, write(tmp_path, texts[0])).flows()
    connection = translate_flow(reading, clients, 0).settings.source.connection
    oauth = connection.sasl.oauth
    assert (connection.protocol, connection.sasl.mechanism) == (SecurityProtocol.SASL_SSL, "OAUTHBEARER")
    assert (oauth.client_id, oauth.token_url, oauth.scope, oauth.extensions) == ("me", "https://tokens/x", "s", "a=b")
    assert oauth.client_secret is not None
    assert oauth.client_secret.reveal() == "p4ss"
    (other,) = files_of(tmp_path, write(tmp_path, texts[1])).flows()
    with pytest.raises(ConfigurationError, match=r"the option oauth\.ssl\.endpoint\.identification\.algorithm is not"):
        translate_flow(other, clients, 0)


def test_secrets_are_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reference of the user's own, patterns, and where the operator mounted Secrets earlier."""
    tls = "tls: {trustedCertificates: [{secretName: ca, pattern: '*.crt'}, {secretName: old, certificate: ca.crt}]}"
    own = (
        "statusStorageTopic: s,\n    config: {config.providers: mine, config.providers.mine.class: "
        "io.strimzi.kafka.KubernetesConfigMapConfigProvider}}"
    )
    used = "sourceConnector: {config: {topics: '${mine:ns/maps:topics}', groups: '${file:/nowhere:x}'}}"
    rack = "spec:\n  rack: {type: environment-variable, envVarName: ZONE_OF_THIS}\n"
    text = V1.replace('"a:1"}', f'"a:1", {tls}}}').replace("statusStorageTopic: s}", own).replace("spec:\n", rack)
    path = write(tmp_path, text.replace("sourceConnector: {}", used))
    mount(tmp_path, "ca", b_crt="second", a_crt="first", ca_p12="none")
    mount(tmp_path, "mm2-certs/A/old", ca_crt="third")
    mount(tmp_path, "maps", topics="orders")
    monkeypatch.setenv("ZONE_OF_THIS", "z1")
    hidden: set[str] = set()
    line = ConnectLine("", (), (), (path,), str(tmp_path / "secrets"))
    files = load(line, hidden.update)
    (connector,) = files.connectors
    given = connector.properties
    assert given["source.cluster.ssl.truststore.certificates"] == "first\nsecond\nthird"
    assert (given["topics"], given["consumer.client.rack"], files.worker["consumer.client.rack"]) == (
        "orders",
        "z1",
        "z1",
    )
    assert {"first\nsecond", "third"} <= hidden
    asked = {**given, "topics": "${strimzisecrets:ns/maps:topics}"}
    assert connector_of("n", asked, files.worker, secrets_dir=files.secrets_dir).properties["topics"] == "orders"


@pytest.mark.parametrize("word", ["secretName: ca/../x", "secretName: ../ca"])
def test_a_secret_is_no_path(word: str, tmp_path: Path) -> None:
    tls = f"tls: {{trustedCertificates: [{{{word}, certificate: ca.crt}}]}}"
    (tmp_path / "ca").mkdir()
    (tmp_path / "ca" / "ca.crt").touch()
    with pytest.raises(ConfigurationError, match=r"names no key of a Secret|has no .*ca\.crt: mount the Secret ca"):
        files_of(tmp_path, write(tmp_path, V1.replace('"a:1"}', f'"a:1", {tls}}}')))


def test_without_a_folder_of_secrets(tmp_path: Path) -> None:
    """To run, a folder is needed; to explain, the references stay."""
    login = "authentication: {type: plain, username: u, passwordSecret: {secretName: s, password: p}}"
    path = write(tmp_path, V1.replace('"a:1"}', f'"a:1", {login}}}'))
    line = ConnectLine("", (), (), (path,))
    with pytest.raises(ConfigurationError, match=r"jaas\.config refers to Kubernetes by .* --secrets\.dir FOLDER"):
        load(line)
    files = load(line, needs_secrets=False)
    assert (
        files.flows()[0]
        .properties["source"]["source.cluster.sasl.jaas.config"]
        .endswith('username="u" password="${strimzisecrets:ns/s:p}";')
    )
    assert files.kept == (
        f"{path} A->B.MirrorSourceConnector: no --secrets.dir names the folder that has a folder for each Secret, and "
        "without it the start is refused: s",
    )


def test_resources_are_read_alone(tmp_path: Path) -> None:
    assert read_resources(write(tmp_path, V1))[0].connectors[0].name == "A->B.MirrorSourceConnector"
    with pytest.raises(ConfigurationError, match="No such file"):
        read_resources(str(tmp_path / "none.yaml"))
