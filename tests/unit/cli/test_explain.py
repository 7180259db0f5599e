"""`legacy-mm explain` without a cluster: exit codes, text, JSON, and no secret anywhere."""

from __future__ import annotations

import contextlib
import io
import json
import os
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from legacy_mm.cli import explain
from legacy_mm.cli.explain_text import render
from legacy_mm.cli.legacy_mm import main
from legacy_mm.cli.output import folded_table
from legacy_mm.explain import source_inspection
from legacy_mm.explain.explanation import Explanation
from legacy_mm.explain.source_inspection import Topics
from legacy_mm.transactions.txn_requests import TransactionVersion
from legacy_mm.words.legacy_tool.environment import KAFKA_HOME
from legacy_mm.words.options.option_catalogue import OPTIONS
from tests.unit.cli.conftest import CONSUMER, OLD_LINE, PRODUCER, Explain

LOGIN = (
    "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
    "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required "
    'username="me" password="planted1";\n'
)


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
        ((*OLD_LINE, "--include", "t", "--message.handler", "x"), 255, "It would be refused: java.lang.Class"),
        ((*OLD_LINE, "--include", "t", "--bogus"), 1, "It would be refused: joptsimple.UnrecognizedOptionException"),
        ((*OLD_LINE, "--connector.class"), 1, "It would be refused: connector.class is a feature of MirrorMaker 2"),
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


def test_what_a_provider_gave_is_hidden_where_it_is_refused(run: Explain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRROR_LINGER", "planted1")
    provider = "org.apache.kafka.common.config.provider.EnvVarConfigProvider"
    file = f"{PRODUCER}config.providers=env\nconfig.providers.env.class={provider}\nlinger.ms=${{env:MIRROR_LINGER}}\n"
    _, text = run(*OLD_LINE, "--include", "t", producer=file)
    assert "Invalid value [hidden] for configuration linger.ms" in text


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
    dashes = "put -- before the command line of the mirror"
    for words, said in (
        ([], dashes),
        (["--json"], dashes),
        (["--consumer.config", "c"], dashes),
        (["--bogus", "--", "--help"], "unrecognized arguments: --bogus"),
        (
            ["--ofline", "--", "--help"],
            "unrecognized arguments: --ofline\n--ofline is no option: --offline was probably meant",
        ),
    ):
        assert main(["explain", *words]) == 1
        assert capsys.readouterr().err == f"legacy-mm: {said}\n{explain.USAGE}"


def test_the_command_lists_it(capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("  explain ")]
    assert len(lines) == 1


def test_the_document_has_the_keys_that_are_promised(run: Explain) -> None:
    made = document(run)
    promised = str(explain.__doc__)
    assert all(f"`{key}`" in promised for key in made)
    for part in ("unknown", "warnings"):
        assert made[part] == []
    for part in ("words", "options", "properties", "settings", "permissions", "differences"):
        assert made[part], part
        assert f"`{part}`: {', '.join(made[part][0])}" in promised
    fields = {"answered", "why_not", "attention", "copies", "partitions", "impossible", "target_unknown"}
    fields |= {"transaction_version", "risks"}
    assert set(made["topics"]) == fields
    assert all(key in promised for key in made["topics"])


def test_words(run: Explain) -> None:
    made = document(run, "stray", "-new.consumer", "--", "--help")
    said = {row["word"]: row["meaning"] for row in made["words"]}
    assert said["kafka-mirror-maker.sh"] == "starts the tool"
    assert said["c.properties"] == "value of --consumer.config"
    assert said["stray"] == "ignored, as by the legacy tool"
    assert said["--help"] == "ignored, as everything after --"
    assert said["-new.consumer"].startswith("DEPRECATED")


def test_properties_have_line_and_meaning(run: Explain) -> None:
    consumer = "# first\n" + CONSUMER + "zookeeper.connect=z\nconnector.class=x\ngroup.id=h\nfetch.max.wait.ms=1\n"
    made = document(run, consumer=consumer, producer=PRODUCER + "producer.type=sync\nbatch.size=9\n")
    said = {(row["client"], row["line"]): (row["name"], row["meaning"]) for row in made["properties"]}
    assert said["consumer", 3] == ("group.id", "replaced by line 6")
    assert said["consumer", 4] == ("zookeeper.connect", "unknown, ignored")
    assert said["consumer", 5][1].startswith("ignored: connector.class is a feature of MirrorMaker 2")
    assert said["consumer", 6] == ("group.id", "understood as it stands")
    assert said["consumer", 7] == ("fetch.max.wait.ms", "understood as it stands")
    assert said["producer", 2][1].startswith("read by the mirror itself: with sync")
    assert said["producer", 3] == ("batch.size", "taken as 983040")


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
    assert titles.count("The consumer one file") == titles.count("The consumer two's settings here") == 1
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
    assert origins["producer.tuning"] == "o.properties:1"
    assert origins["log.level"] == "command line"
    assert origins["on.gap"] == "default"
    variables = {row["name"]: row["meaning"] for row in made["environment"]}
    assert variables["LEGACY_MM_SHUTDOWN_TIMEOUT_MS"] == "option --shutdown.timeout.ms"
    assert variables["LEGACY_MM_KAFKA_HOME"].startswith("the Kafka whose script this tool replaces")
    assert variables["LEGACY_MM_REMOTE_ADMIN"] == "option --target.admin"
    assert variables["LEGACY_MM_BOGUS"] == "no option of ours, ignored"
    assert "heap" in variables["KAFKA_HEAP_OPTS"]
    assert variables["KAFKA_VERSION"] == "read neither by the old scripts nor by this tool"


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


def test_the_source_does_not_answer(run: Explain, monkeypatch: pytest.MonkeyPatch) -> None:
    """Port 1 refuses: one line says so, and the line would run all the same."""
    monkeypatch.setattr(source_inspection, "_ASK_TIMEOUT", 0.5)
    code, text = run(*OLD_LINE, "--include", "orders", flags=())
    assert code == 0
    assert (
        "Topics at the source that match orders: not known, the source (127.0.0.1:1): listing topics failed: "
        in " ".join(text.split())
    )


def test_a_name_that_does_not_resolve_is_refused(run: Explain) -> None:
    code, text = run(*OLD_LINE, "--include", "t", producer="bootstrap.servers=no-such-host.invalid:1\n", flags=())
    assert code == 1
    assert "No resolvable bootstrap urls given in bootstrap.servers" in " ".join(text.split())


def test_long_cells_go_on_below() -> None:
    lines = list(folded_table([("a" * 50, "x", "b"), ("c", "y", "word " * 40)]))
    assert max(map(len, lines)) <= 120
    assert lines[:2] == ["  " + "a" * 44 + "  x  b", "  " + "a" * 6]
    assert lines[2].startswith("  c" + " " * 45 + "y  word")
    assert len(lines) == 5


@pytest.mark.parametrize(
    "files",
    [
        {"consumer": f"{CONSUMER}client.id=\n", "producer": f"{PRODUCER}client.id=\n"},
        {"consumer": "a=\nb=\n"},
        {"consumer": "bootstrap.servers=\ngroup.id=\n"},
        {"consumer": f"{CONSUMER}{'k' * 90}={'v' * 90}\n"},
        {"consumer": "", "producer": ""},
        {"consumer": f"{CONSUMER}client.rack=\\u0000\\ud800 \u00e9\n"},
        {"producer": f"{PRODUCER}librdkafka.{'n' * 60}={'w' * 60}\n"},
    ],
)
@pytest.mark.parametrize("flags", [("--offline",), ("--offline", "--json")])
def test_no_file_is_too_odd_to_be_explained(run: Explain, files: dict[str, str], flags: tuple[str, ...]) -> None:
    """Empty values, keys and values that are too long for a column, letters that no terminal has."""
    code, text = run(*OLD_LINE, "--include", "t", flags=flags, **files)
    assert code in (0, 1)
    assert text
    assert flags[1:] or max(map(len, text.splitlines())) <= 120


@pytest.mark.parametrize("variable", ["KAFKA_OPTS", "KAFKA_HEAP_OPTS", "CLASSPATH", "LEGACY_MM_ENGINE", "KAFKA_FOO"])
def test_an_empty_variable_alone(run: Explain, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    for name in [name for name in os.environ if name.startswith(("KAFKA_", "LEGACY_MM_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv(variable, "")
    code, text = run(*OLD_LINE, "--include", "t")
    assert code == 0
    assert f"Environment\n  {variable}  " in text


@pytest.mark.usefixtures("one_java")
def test_words_that_are_no_text(run: Explain) -> None:
    """A byte that is no UTF-8, and an empty word."""
    code, text = run(*OLD_LINE, "--include", "t\udcff", "")
    assert code == 0
    assert "t?" in text


@pytest.mark.parametrize("words", [("", "x"), ("a" * 60, "b" * 60, "c" * 60, "d " * 60), ("", "", "", "")])
def test_a_table_of_any_cells(words: tuple[str, ...]) -> None:
    lines = list(folded_table([words, words[::-1]]))
    assert max(map(len, lines)) <= 120
    told = "".join("".join(lines).split())
    assert all(told.count(letter) >= "".join(words).count(letter) for letter in "abcd")


def test_what_matters_comes_first(run: Explain) -> None:
    """Outcome, what to take care of, what differs, topics, rights; then the details, and one line for the rest."""
    words = ("--include", "t", "--num.streams", "2", "--topic.creation", "true")
    _, text = run(*OLD_LINE, *words, producer=f"{PRODUCER}topic.blacklist=x\n")
    titles = [line for line in text.splitlines() if line and not line.startswith(" ")]
    assert titles == [
        "It would run.",
        "Exit code: 0",
        "Take care",
        "Different from the legacy tool, with this command line",
        "Topics at the source that match t: not known, not asked",
        "Rights needed",
        "Words",
        *(["Environment"] if "Environment" in titles else []),
        "Options of ours",
        "The consumer file",
        "The consumer's settings here",
        "The producer file",
        "The producer's settings here",
        titles[-1],
    ]
    assert titles[-1].endswith(
        "from the legacy tool, which every mirror has: docs/reference/differences.md, or legacy-mm quirks"
    )
    assert "Take care\n  p.properties:2: topic.blacklist has no effect: topics.blacklist was probably meant.\n" in text


def test_a_line_that_is_refused_says_so_and_no_more_than_is_known(run: Explain) -> None:
    code, text = run(*OLD_LINE, "--include", "t", consumer=f"{CONSUMER}fetch.min.bytes=x\n")
    assert code == 1
    first, second = text.splitlines()[0], " ".join(text.split())
    assert first.startswith("It would be refused: ")
    assert "c.properties:3: fetch.min.bytes must be a whole number" in second
    assert "Rights needed" not in text
    assert "Topics at the source: not known, the line would not run" in text


def test_rights_of_features(run: Explain) -> None:
    """By cluster, operation and resource, with this line's aliases; those of offset syncs where their topics are."""
    flags = ("--emit.offset-syncs.enabled=true", "--topic.creation=true", "--source.cluster.alias=up")
    for place, other in (("source", "target"), ("target", "source")):
        more = ("--target.cluster.alias=down", f"--offset-syncs.topic.location={place}")
        rows = document(run, *flags, *more)["permissions"]
        asked = {(row["cluster"], row["operation"], row["resource"], row["reason"]) for row in rows}
        assert ("source", "DescribeConfigs", "the topics", "topic.creation") in asked
        assert ("target", "Alter", "the topics", "topic.creation") in asked
        syncs = {row["cluster"]: row for row in rows if row["reason"] == "emit.offset-syncs.enabled"}
        assert set(syncs) == {place}
        named = [row["resource"] for row in rows if row["reason"] == "emit.offset-syncs.enabled"]
        alias = "down" if place == "source" else "up"
        names = f"mm2-offset-syncs.{alias}.internal and mm2-offset-map.{alias}.internal"
        assert f"the cluster or on topics {names}" in named
        assert other not in syncs
    plain = {row["reason"] for row in document(run)["permissions"]}
    assert not {"topic.creation", "emit.offset-syncs.enabled"} & plain


def test_a_log_configuration_that_is_not_understood(run: Explain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_LOG4J_OPTS", "-Dlog4j.configuration=file:gone.properties")
    (told,) = document(run)["warnings"]
    assert "gone.properties" in told


def test_rights_name_the_copies_where_they_are_called_otherwise(run: Explain) -> None:
    renaming = ("--rename.topics=true", "--source.cluster.alias=up", "--target.cluster.alias=down")
    for words in (renaming, ("--handler.step", "rename.prefix=x")):
        rows = {(row["cluster"], row["operation"]): row["resource"] for row in document(run, *words)["permissions"]}
        assert rows["target", "Write"] == "Topic: each copy of one that matches t"
        assert rows["source", "Read"] != rows["target", "Write"]


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8", None])
def test_letters_that_the_terminal_does_not_have(tmp_path: Path, encoding: str | None) -> None:
    """They become question marks, as Java prints them; a stream of another kind has no encoding at all."""
    out = io.StringIO() if encoding is None else io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    with contextlib.redirect_stdout(out):
        assert main(["explain", "--offline", "--", "--include", "t\u017e\udcff"]) == 1
    out.seek(0)
    assert "It would be refused" in out.read()


def test_a_pattern_that_the_shell_has_expanded_is_said_at_once(run: Explain) -> None:
    _, text = run(*OLD_LINE, "--whitelist", "orders.a", "orders.b", "orders.c")
    assert text.startswith("It would run.\nWARN 2 words without effect: orders.b orders.c. If the shell has made them ")
    _, text = run(*OLD_LINE, "--whitelist", "t", "--", "--num.streams", "2")
    assert text.startswith("It would run.\nWARN 2 words without effect: --num.streams 2.")
    _, text = run(*OLD_LINE, "--whitelist", "t", "--")
    assert text.startswith("It would run.\nExit code: 0\n")


def test_no_topic_is_said_at_once() -> None:
    made = Explanation(0, "It would run.", pattern="orders.*")
    assert render(made, Topics(answered=True)).startswith(
        "It would run.\nWARN No topic of the source matches orders.*."
    )
    assert "WARN" not in render(made, Topics(why_not="not asked"))


def test_the_transaction_version_of_exactly_once_is_named(run: Explain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_inspection, "_flow", lambda *_, whose: ([], []))
    monkeypatch.setattr(source_inspection, "_attention", lambda *_: "")
    monkeypatch.setattr(source_inspection, "cluster_version", lambda *_: TransactionVersion.TWO)
    risks = Mock(return_value=["min.insync.replicas=1 at the target for t: what only one broker has is lost with it"])
    monkeypatch.setattr(source_inspection, "risks", risks)
    monkeypatch.setattr(source_inspection, "start_doubts", lambda *_: [])
    for flag, named in (("true", True), ("false", False)):
        _, text = run(*OLD_LINE, "--include", "t", "--exactly.once", flag, flags=())
        risk = "  min.insync.replicas=1 at the target for t: what only one broker has is lost with it\n"
        assert (f"\nExactly once at the target: transaction version 2\n{risk}" in text) == named
    assert [call.args[1] for call in risks.mock_calls] == [{"legacy-mm-positions.g.source.target.internal"}]


def test_a_refusal_is_said_again_at_the_end(run: Explain, tmp_path: Path) -> None:
    """In the legacy tool's words and in ours; what comes between them fills a terminal."""
    words = ("kafka-mirror-maker.sh", "--consumer.config", "x", "--producer.config", "p.properties", "--include", "t")
    code, text = run(*words)
    assert code == 1
    said = f"It would be refused: java.nio.file.NoSuchFileException: x\nx: no such file in {tmp_path}\n"
    assert text.startswith(said)
    assert text.endswith(f"\n\n{said}")


def test_the_script_of_a_kafka_brings_its_jars(run: Explain, tmp_path: Path) -> None:
    """As the script does that `legacy-mm install` puts there."""
    home = tmp_path / "kafka"
    for folder in ("bin", "libs"):
        (home / folder).mkdir(parents=True)
    script = home / "bin" / "kafka-mirror-maker.sh"
    script.touch()
    shown = []
    for launcher in ((str(script),), ("LEGACY_MM_KAFKA_HOME=/other", str(script)), ("kafka-mirror-maker.sh",)):
        _, text = run(*launcher, *OLD_LINE[1:], "--include", "t", flags=("--offline", "--json"))
        shown.append([row["value"] for row in json.loads(text)["environment"] if row["name"] == KAFKA_HOME])
    assert shown == [[str(home)], ["/other"], []]


def test_a_login_file_is_named_as_the_place_of_a_login(
    run: Explain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    login = LOGIN.partition("sasl.jaas.config=")[2].replace("\n", " ").strip()
    (tmp_path / "jaas.conf").write_text(f"KafkaClient {{ {login} }};\n")
    monkeypatch.setenv("KAFKA_OPTS", f"-Djava.security.auth.login.config={tmp_path}/jaas.conf")
    mechanism = LOGIN.partition("sasl.jaas.config=")[0]
    settings = document(run, consumer=f"{CONSUMER}{mechanism}")["settings"]
    origins = {row["name"]: row["origin"] for row in settings if row["client"] == "consumer"}
    assert (origins["sasl.jaas.config"], origins["sasl.mechanism"]) == ("login file", "c.properties:4")
    assert origins["security.protocol"] == "c.properties:3"
