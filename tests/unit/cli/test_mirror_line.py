"""The mirror's command line behind `--`, as people call it."""

from __future__ import annotations

from pathlib import Path

import pytest

from legacy_mm.audit.java_files import write_properties
from legacy_mm.base.errors import ConfigurationError, UsageError
from legacy_mm.cli.mirror_line import MirrorLine


@pytest.mark.parametrize(
    "call",
    [
        (),
        ("/opt/kafka/bin/kafka-mirror-maker.sh",),
        ("mirror-to-berlin.sh",),
        ("bin/kafka-run-class.sh", "kafka.tools.MirrorMaker"),
        ("bin/kafka-run-class.sh", "-daemon", "-name", "mm", "-loggc", "-Dx=y", "kafka.tools.MirrorMaker"),
        ("sudo", "-u", "kafka", "JMX_PORT=9999", "kafka-mirror-maker.sh"),
        ("tini", "-w", "-e", "143", "--", "kafka-mirror-maker.sh"),
    ],
    ids=" ".join,
)
def test_the_command_itself_may_be_there(tmp_path: Path, call: tuple[str, ...]) -> None:
    words = ["--include", "t"]
    for side in ("consumer", "producer"):
        properties = {"bootstrap.servers": "127.0.0.1:1", "group.id": "g"}
        words += [f"--{side}.config", str(write_properties(tmp_path / side, properties))]
    (flow,) = MirrorLine([*call, *words]).flows()
    assert flow.topics.pattern == "t"


def test_java_options_and_variables_before_the_class_count(tmp_path: Path) -> None:
    login = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="me" password="hush";'
    (tmp_path / "jaas.conf").write_text(f"KafkaClient {{ {login} }};")
    sasl = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"}
    words = ["--include", "t"]
    for side, more in (("consumer", sasl), ("producer", {})):
        properties = {"bootstrap.servers": "127.0.0.1:1", "group.id": "g", **more}
        words += [f"--{side}.config", str(write_properties(tmp_path / side, properties))]
    java = f"-Djava.security.auth.login.config={tmp_path}/jaas.conf"
    for call in (["kafka-run-class.sh", java], ["env", f"KAFKA_OPTS={java}"]):
        (flow,) = MirrorLine([*call, "kafka.tools.MirrorMaker", *words]).flows()
        assert flow.source.connection.sasl.username == "me"


@pytest.mark.parametrize("is_driver", [False, True])
def test_what_a_provider_gave_is_not_in_an_error(
    is_driver: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command prints the error as it is."""
    monkeypatch.setenv("MIRROR_LINGER", "of-the-provider")
    provider = "org.apache.kafka.common.config.provider.EnvVarConfigProvider"
    declared = {"config.providers": "env", "config.providers.env.class": provider}
    if is_driver:
        servers = {f"{alias}.bootstrap.servers": "127.0.0.1:1" for alias in "AB"}
        flow = {"clusters": "A, B", "A->B.enabled": "true", "B.producer.linger.ms": "${env:MIRROR_LINGER}"}
        words = ["connect-mirror-maker.sh", str(write_properties(tmp_path / "mm2", {**servers, **flow, **declared}))]
    else:
        words = ["--include", "t"]
        for side, more in (("consumer", {}), ("producer", {**declared, "linger.ms": "${env:MIRROR_LINGER}"})):
            properties = {"bootstrap.servers": "127.0.0.1:1", "group.id": "g", **more}
            words += [f"--{side}.config", str(write_properties(tmp_path / side, properties))]
    with pytest.raises(ConfigurationError, match=r"Invalid value \[hidden\] for configuration linger\.ms"):
        MirrorLine(words).flows()


def test_the_parts_of_a_line() -> None:
    """For commands that need no more of it than what it names."""
    words = ["--consumer.config", "c", "--num.streams", "2", "--producer.config=p", "--whitelist", "a,b", "stray"]
    line = ["env", "LEGACY_MM_ENGINE=records", "kafka-mirror-maker.sh", *words, "--rename.topics", "true"]
    parts = MirrorLine(line).parts()
    assert (parts.consumer, parts.producer, parts.topics) == ("c", "p", "a,b")
    assert parts.own == ["--rename.topics=true"]
    assert parts.others == ["--num.streams", "2", "stray", "--rename.topics", "true"]
    assert parts.variables["LEGACY_MM_ENGINE"] == "records"


PRODUCER = ("--producer.config", "p")
NO_PAIR: list[tuple[str, ...]] = [
    (),
    ("--include", "t"),
    ("--consumer.config", "c"),
    PRODUCER,
    ("--consumer.config=c", "--consumer.config=d", *PRODUCER),
]


@pytest.mark.parametrize("line", NO_PAIR)
def test_a_line_that_names_no_two_clusters(line: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="one --consumer.config"):
        MirrorLine(line).parts()


def driver_line(folder: Path, **more: str) -> list[str]:
    """A file with a flow in each direction, and one that only beats."""
    flows = {"clusters": "A, B, C", "A->B.enabled": "true", "B->A.enabled": "true"}
    servers = {f"{alias}.bootstrap.servers": f"{alias.lower()}:1" for alias in "ABC"}
    file = write_properties(folder / "mm2.properties", {**flows, **servers, **more})
    return ["connect-mirror-maker.sh", str(file), "--log.level", "INFO"]


@pytest.mark.parametrize("name", ["A->B", "B->A"])
def test_of_several_flows_the_named_one_is_meant(name: str, tmp_path: Path) -> None:
    line = MirrorLine(driver_line(tmp_path), name)
    with line.flow_with_stores() as (settings, _):
        assert settings.flow == line.only_flow().flow == line.driver_flow().run.settings.flow == name


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "the file has 2 flows that copy: name one by --flow: A->B, B->A"),
        ("A->C", "no flow A->C copies: A->B and B->A would"),
    ],
)
def test_which_flow_is_meant_must_be_told(name: str, said: str, tmp_path: Path) -> None:
    line = MirrorLine(driver_line(tmp_path), name)
    with pytest.raises(UsageError, match=f"^{said}$"), line.flow_with_stores():
        pass


def test_a_flow_that_would_not_run_is_no_other_flow(tmp_path: Path) -> None:
    bad = {"A->B.consumer.max.poll.records": "5 # x"}
    with pytest.raises(ConfigurationError, match=r"^A->B would not run: A->B\.consumer\.max\.poll\.records = 5 # x: "):
        MirrorLine(driver_line(tmp_path, **bad), "A->B").only_flow()
    assert MirrorLine(driver_line(tmp_path, **bad), "B->A").only_flow().flow == "B->A"
    with pytest.raises(UsageError, match="^the file has 2 flows that copy: name one by --flow: B->A, A->B$"):
        MirrorLine(driver_line(tmp_path, **bad)).only_flow()


def test_the_clients_of_a_flow_in_java_s_words(tmp_path: Path) -> None:
    own = {"A.consumer.max.poll.records": "7", "B.producer.enable.idempotence": "false"}
    native = {"B.producer.librdkafka.socket.nagle.disable": "true"}
    flow = MirrorLine(driver_line(tmp_path, **own, **native), "A->B").driver_flow()
    consumer, producer = flow.consumer(), flow.producer()
    assert (consumer["bootstrap.servers"], consumer["max.poll.records"]) == ("a:1", "7")
    assert (producer["bootstrap.servers"], producer["enable.idempotence"]) == ("b:1", "false")
    assert producer["librdkafka.socket.nagle.disable"] == "true"
    assert flow.own == ("--log.level", "INFO")


def test_a_resource_of_strimzi_is_a_line_of_connect(tmp_path: Path) -> None:
    """What `plan` asks the clusters with; without the Secrets it does not ask."""
    file = tmp_path / "mm2.yaml"
    file.write_text(
        "kind: KafkaMirrorMaker2\nspec:\n  target: {alias: B, bootstrapServers: 'b:1'}\n  mirrors:\n"
        "  - source: {alias: A, bootstrapServers: 'a:1', authentication: {type: plain, username: u, passwordSecret: "
        "{secretName: login, password: key}}}\n    sourceConnector: {}\n"
    )
    (tmp_path / "login").mkdir()
    (tmp_path / "login" / "key").write_text("p4ssword")
    words = ["legacy-mm", "connect", str(file)]
    with pytest.raises(ConfigurationError, match=r"--secrets\.dir FOLDER"):
        MirrorLine(words).only_flow()
    flow = MirrorLine([*words, "--secrets.dir", str(tmp_path), "--log.level", "INFO"]).only_flow()
    assert (flow.flow, flow.source.connection.bootstrap_servers) == ("A->B", ("a:1",))
    assert flow.source.connection.sasl is not None
    assert flow.source.connection.sasl.username == "u"
