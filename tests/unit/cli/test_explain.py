"""`legacy-mm explain` without a cluster: exit codes, text, JSON, and no secret anywhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.cli import explain
from legacy_mm.cli.explain_text import table
from legacy_mm.cli.legacy_mm import main
from legacy_mm.config.catalogue import OPTIONS

CONSUMER = "bootstrap.servers=127.0.0.1:1\ngroup.id=g\n"
PRODUCER = "bootstrap.servers=127.0.0.1:2\n"
LOGIN = (
    "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
    "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required "
    'username="me" password="planted1";\n'
)
OLD_LINE = ("kafka-mirror-maker.sh", "--consumer.config", "c.properties", "--producer.config", "p.properties")
Explain = Callable[..., tuple[int, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Explain:
    """Writes the two files and explains a command line; exit code and standard output."""
    monkeypatch.chdir(tmp_path)
    for variable in ("JAVA_HOME", "CLASSPATH"):
        monkeypatch.delenv(variable, raising=False)

    def explained(
        *words: str, consumer: str = CONSUMER, producer: str = PRODUCER, flags: tuple[str, ...] = ("--offline",)
    ) -> tuple[int, str]:
        (tmp_path / "c.properties").write_text(consumer)
        (tmp_path / "p.properties").write_text(producer)
        code = main(["explain", *flags, "--", *words])
        return code, capsys.readouterr().out

    return explained


def document(run: Explain, *words: str, **files: str) -> dict[str, Any]:
    """The JSON document about a line with the usual options and these words."""
    _, text = run(*OLD_LINE, "--include", "t", *words, flags=("--offline", "--json"), **files)
    made: dict[str, Any] = json.loads(text)
    return made


@pytest.mark.parametrize(
    ("words", "code", "outcome"),
    [
        ((*OLD_LINE, "--include", "t"), 0, "It would run."),
        ((*OLD_LINE, "--include", "t", "--num.streams", "0"), 0, "It would end at once"),
        ((*OLD_LINE, "--version"), 0, "It would print the version, 3.9.1."),
        (("--help",), 1, "It would print the usage."),
        (OLD_LINE, 1, "It would be refused: include list must be specified"),
        ((*OLD_LINE, "--include", "t", "--message.handler", "x"), 0, "It would run."),
        ((*OLD_LINE, "--include", "t", "--bogus"), 1, "It would be refused: joptsimple.UnrecognizedOptionException"),
        ((*OLD_LINE, "--exactly.once"), 1, "It would be refused: exactly.once is a feature of MirrorMaker 2"),
        ((*OLD_LINE, "--include", "t", "--log.level", "x"), 1, "It would be refused: Option --log.level"),
    ],
)
def test_exit_codes_are_those_of_the_line(run: Explain, words: tuple[str, ...], code: int, outcome: str) -> None:
    given, text = run(*words)
    assert given == code
    assert text.startswith(outcome)
    assert f"Exit code: {code}\n" in text


@pytest.mark.parametrize(
    "words",
    [(*OLD_LINE, "--bogus"), (*OLD_LINE, "--include", "t", "--topic.creation", "perhaps"), ("--bogus",)],
    ids=["its words are not understood", "it is refused later", "it is not read so far"],
)
def test_no_secret_of_a_line_that_would_not_run(run: Explain, words: tuple[str, ...]) -> None:
    secret = ("--source.admin.ssl.truststore.password", "planted1")
    for line in ((*secret, *words), (*words, *secret)):
        code, text = run(*line)
        assert code == 1
        assert "planted1" not in text


def test_java_options_before_the_class_count(run: Explain, tmp_path: Path) -> None:
    """As they do for the mirror: here they name the file with the login."""
    login = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="me" password="planted1";'
    (tmp_path / "jaas.conf").write_text(f"KafkaClient {{ {login} }};")
    words = ("kafka.tools.MirrorMaker", *OLD_LINE[1:], "--include", "t")
    consumer = f"{CONSUMER}security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
    java = f"-Djava.security.auth.login.config={tmp_path}/jaas.conf"
    for option, code in ((java, 0), ("-Dother=x", 1)):
        explained, text = run("kafka-run-class.sh", "-name", "mm", option, *words, consumer=consumer)
        assert explained == code, text
        assert "planted1" not in text


def test_variables_before_the_command_count(run: Explain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_HEAP_OPTS", "-Xmx1G")
    java = "KAFKA_OPTS=-Djavax.net.ssl.keyStorePassword=planted1"
    before = ("env", "KAFKA_HEAP_OPTS=-Xmx2G", "LEGACY_MM_ENGINE=records", java)
    code, text = run(*before, *OLD_LINE, "--include", "t", flags=("--offline", "--json"))
    assert code == 0
    assert "planted1" not in text
    made = json.loads(text)
    assert {"option": "engine", "value": "records", "origin": "LEGACY_MM_ENGINE"} in made["options"]
    assert {row["name"]: row["value"] for row in made["environment"]}["KAFKA_HEAP_OPTS"] == "-Xmx2G"


def test_nothing_to_explain_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["--json"], ["--bogus", "--", "--help"]):
        assert main(["explain", *words]) == 1
        assert capsys.readouterr().err == explain.USAGE


def test_the_command_lists_it(capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("  explain ")]
    assert len(lines) == 1


def test_the_document_has_the_keys_that_are_promised(run: Explain) -> None:
    made = document(run)
    promised = str(explain.__doc__)
    assert all(f"`{key}`" in promised for key in made)
    for part in ("words", "options", "properties", "settings", "permissions", "differences"):
        assert made[part], part
        assert f"`{part}`: {', '.join(made[part][0])}" in promised
    assert set(made["topics"]) == {"answered", "why_not", "partitions"}


def test_words(run: Explain) -> None:
    made = document(run, "stray", "-new.consumer", "--", "--help")
    said = {row["word"]: row["meaning"] for row in made["words"]}
    assert said["kafka-mirror-maker.sh"] == "starts the tool"
    assert said["c.properties"] == "value of --consumer.config"
    assert said["stray"] == "ignored, as by the old tool"
    assert said["--help"] == "ignored, as everything after --"
    assert said["-new.consumer"].startswith("DEPRECATED")


def test_properties_have_line_and_meaning(run: Explain) -> None:
    consumer = "# first\n" + CONSUMER + "zookeeper.connect=z\nexactly.once=true\ngroup.id=h\nfetch.max.wait.ms=1\n"
    made = document(run, consumer=consumer, producer=PRODUCER + "producer.type=sync\nbatch.size=9\n")
    said = {(row["client"], row["line"]): (row["name"], row["meaning"]) for row in made["properties"]}
    assert said["consumer", 3] == ("group.id", "replaced by line 6")
    assert said["consumer", 4] == ("zookeeper.connect", "unknown, ignored")
    assert said["consumer", 5][1].startswith("ignored: exactly.once is a feature of MirrorMaker 2")
    assert said["consumer", 6] == ("group.id", "understood as it stands")
    assert said["consumer", 7] == ("fetch.max.wait.ms", "decides fetch.wait.max.ms")
    assert said["producer", 2][1].startswith("read by the mirror itself: with sync")
    assert said["producer", 3] == ("batch.size", "taken as 262144")


def test_settings_have_their_origin(run: Explain) -> None:
    made = document(run, consumer=CONSUMER + "isolation.level=read_committed\n")
    found = {(row["client"], row["name"]): row for row in made["settings"]}
    isolation = found["consumer", "isolation.level"]
    assert (isolation["value"], isolation["origin"]) == ("read_committed", "c.properties:3")
    assert found["producer", "acks"]["origin"] == "default"
    assert found["producer", "linger.ms"]["origin"] == "ours"
    assert found["consumer", "client.id"]["value"] == "g-<stream>"


def test_every_consumer_file_of_0_8_is_shown(run: Explain) -> None:
    for name in ("one", "two"):
        Path(name).write_text(f"zookeeper.connect=zk\ngroup.id={name}\nbootstrap.servers=127.0.0.1:1\n")
    words = ("--consumer.config", "one", "--consumer.config", "two", "--producer.config", "p.properties")
    line = (*words, "--whitelist", "t", "--new.producer", "--legacy.release", "0.8.2")
    code, text = run(*line, flags=("--offline", "--json"))
    made = json.loads(text)
    assert (code, made["outcome"]) == (0, "It would run.")
    assert {row["client"] for row in made["properties"]} == {"consumer one", "consumer two", "producer"}
    found = {(row["client"], row["name"]): (row["value"], row["origin"]) for row in made["settings"]}
    assert found["consumer one", "group.id"] == ("one", "one:2")
    assert found["consumer two", "client.id"] == ("two-<stream>", "ours")
    needed = [(row["cluster"], row["resource"]) for row in made["permissions"] if row["reason"].startswith("member")]
    assert needed == [("source one", "Group: one"), ("source two", "Group: two")]
    titles = run(*line)[1].splitlines()
    assert titles.count("The consumer one file") == titles.count("The consumer two as librdkafka gets it") == 1
    assert titles.count("The producer file") == 1


def test_what_only_tunes_is_said_once(run: Explain) -> None:
    tuned = PRODUCER + "max.in.flight.requests.per.connection=1\nbatch.size=100\n"
    _, text = run(*OLD_LINE, "--include", "t", producer=tuned)
    plain = " ".join(text.split())
    assert plain.count("1 means order, which idempotence with five keeps") == 1
    assert plain.count("a lower bound of ours") == 1


def test_own_options_have_their_origin(run: Explain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEGACY_MM_SHUTDOWN_TIMEOUT_MS", "7")
    monkeypatch.setenv("LEGACY_MM_BOGUS", "1")
    monkeypatch.setenv("KAFKA_HEAP_OPTS", "-Xmx1G")
    monkeypatch.setenv("KAFKA_VERSION", "3.9")
    monkeypatch.setenv("LEGACY_MM_KAFKA_HOME", "kafka")
    monkeypatch.setenv("LEGACY_MM_REMOTE_ADMIN", "retries=3")
    Path("o.properties").write_text("producer.tuning=literal\n")
    made = document(run, "--features.config=o.properties", "--log.level", "INFO")
    origins = {row["option"]: row["origin"] for row in made["options"]}
    assert list(origins) == [*(row.name for row in OPTIONS), "target.admin"]
    assert origins["shutdown.timeout.ms"] == "LEGACY_MM_SHUTDOWN_TIMEOUT_MS"
    assert origins["producer.tuning"] == "o.properties"
    assert origins["log.level"] == "command line"
    assert origins["engine"] == "default"
    variables = {row["name"]: row["meaning"] for row in made["environment"]}
    assert variables["LEGACY_MM_SHUTDOWN_TIMEOUT_MS"] == "option --shutdown.timeout.ms"
    assert variables["LEGACY_MM_KAFKA_HOME"].startswith("the Kafka that this tool stands before")
    assert variables["LEGACY_MM_REMOTE_ADMIN"] == "option --target.admin"
    assert variables["LEGACY_MM_BOGUS"] == "no option of ours, ignored"
    assert "heap" in variables["KAFKA_HEAP_OPTS"]
    assert variables["KAFKA_VERSION"] == "read neither by the old scripts nor here"


def test_permissions(run: Explain) -> None:
    made = document(run, producer=PRODUCER + "acks=1\n")
    needed = {(row["cluster"], row["operation"], row["resource"]) for row in made["permissions"]}
    assert ("source", "Read", "Group: g") in needed
    assert ("target", "Write", "Topic: each that matches t") in needed
    assert "IdempotentWrite" not in {operation for _, operation, _ in needed}
    assert "IdempotentWrite" in {row["operation"] for row in document(run)["permissions"]}


@pytest.mark.parametrize(
    ("options", "needed"),
    [
        (("--send.on.error", "quarantine"), 1),
        (("--handler.on.error", "quarantine", "--handler.step", "keep.partition"), 1),
        (("--handler.on.error", "quarantine"), 0),
        ((), 0),
    ],
)
def test_the_quarantine_must_be_written(run: Explain, options: tuple[str, ...], needed: int) -> None:
    rows = document(run, *options, "--quarantine.topic", "q")["permissions"]
    assert sum((row["operation"], row["resource"]) == ("Write", "Topic: q") for row in rows) == needed


def test_only_differences_that_matter(run: Explain) -> None:
    plain = {row["id"] for row in document(run)["differences"]}
    assert "buffer-memory-divided" not in plain
    assert {"linger-default", "stop-deadline"} <= plain
    streams = {row["id"]: row["always"] for row in document(run, "--num.streams", "2")["differences"]}
    assert streams["buffer-memory-divided"] is False
    assert streams["stop-deadline"] is True


@pytest.mark.parametrize("flags", [("--offline",), ("--offline", "--json")])
@pytest.mark.parametrize("refused", [(), ("--bogus",), ("--num.streams", "planted3")])
def test_no_secret_is_shown(
    run: Explain, flags: tuple[str, ...], refused: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAFKA_OPTS", "-Djavax.net.ssl.keyStorePassword=planted2 -javaagent:x.jar")
    monkeypatch.setenv("KAFKA_SASL_PASSWORD", "planted8")
    monkeypatch.setenv("LEGACY_MM_SPARK_CONF", "spark.authenticate.secret=planted4")
    unknown = "".join(f"my.{word}=planted3\n" for word in ("password", "secret", "token", "jaas", "key"))
    native = "librdkafka.sasl.oauthbearer.config=planted5\nlibrdkafka.ssl.key.password=planted6\n"
    words = ("--include", "planted1|t", "--message.handler.args", "password=planted7", *refused)
    _, text = run(*OLD_LINE, *words, consumer=CONSUMER + LOGIN + unknown + native, flags=flags)
    assert "planted" not in text
    assert "[hidden]" in text


def test_the_source_does_not_answer(run: Explain) -> None:
    """Port 1 refuses: one line says so, and the line would run all the same."""
    code, text = run(*OLD_LINE, "--include", "orders", flags=())
    assert code == 0
    assert "Topics at the source that match orders: not known, listing topics failed: " in " ".join(text.split())


def test_a_name_that_does_not_resolve_is_refused(run: Explain) -> None:
    code, text = run(*OLD_LINE, "--include", "t", producer="bootstrap.servers=no-such-host.invalid:1\n", flags=())
    assert code == 1
    assert "No resolvable bootstrap urls given in bootstrap.servers" in " ".join(text.split())


def test_long_cells_go_on_below() -> None:
    lines = list(table([("a" * 50, "x", "b"), ("c", "y", "word " * 40)]))
    assert max(map(len, lines)) <= 120
    assert lines[:2] == ["  " + "a" * 44 + "  x  b", "  " + "a" * 6]
    assert lines[2].startswith("  c" + " " * 45 + "y  word")
    assert len(lines) == 5
