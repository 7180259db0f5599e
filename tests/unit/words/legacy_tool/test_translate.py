"""From a command line and two files to `Settings`, in the legacy tool's order of checks."""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path

import pytest

from legacy_mm.base.errors import (
    ConfigurationError,
    InvalidPattern,
    LegacyMMError,
    UsageError,
)
from legacy_mm.base.secret import Secret
from legacy_mm.cli.parser import read_own_options
from legacy_mm.clients.librdkafka.property_texts import property_texts
from legacy_mm.features.offset_syncs.feature import OFFSET_SYNCS
from legacy_mm.features.start_from.feature import START_FROM
from legacy_mm.features.start_from.flags import StartTimes
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.words.java_clients.client_properties.rule import Note
from legacy_mm.words.legacy_tool.environment import read
from legacy_mm.words.legacy_tool.translate import LineOutcome, MirrorRun, NothingToDo, translate

CONSUMER = "bootstrap.servers=127.0.0.1:1\ngroup.id=g\n"
PRODUCER = "bootstrap.servers=127.0.0.1:2\n"
FILES = ("--consumer.config", "c.properties", "--producer.config", "p.properties")


class Tool:
    """Writes the two files and translates."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.notes: list[Note] = []
        self.hidden: set[str] = set()
        """What no line shows from now on."""

    def __call__(
        self,
        *words: str,
        consumer: str = CONSUMER,
        producer: str = PRODUCER,
        include: str = "t",
        variables: dict[str, str] | None = None,
    ) -> LineOutcome:
        (self._folder / "c.properties").write_text(consumer)
        (self._folder / "p.properties").write_text(producer)
        argv = [*FILES, "--include", include, *words]
        environment = read(variables or {})
        own_options = partial(read_own_options, environment={})
        return translate(argv, own_options, self.notes, hide=self.hidden.update, environment=environment)

    def settings(self, *words: str, consumer: str = CONSUMER, producer: str = PRODUCER, include: str = "t") -> Settings:
        result = self(*words, consumer=consumer, producer=producer, include=include)
        assert isinstance(result, MirrorRun)
        return result.flows[0]


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tool:
    monkeypatch.chdir(tmp_path)
    return Tool(tmp_path)


def test_plain_settings(tool: Tool) -> None:
    made = tool.settings("--num.streams", "3", include="orders.*, audit")
    assert (made.streams, made.commit_interval, made.process.shutdown_timeout) == (3, 60.0, 30.0)
    assert made.topics.pattern == "orders.*|audit"
    assert made.topics.pattern_text == "orders.*, audit"
    assert made.topics.exclude_internal
    assert made.process.spark.master is None
    source, target = made.source, made.target
    assert (source.group_id, source.offset_reset) == ("g", "latest")
    assert (source.metadata_max_age, source.api_timeout) == (300.0, 60.0)
    assert source.max_poll_interval == 300.0
    assert not {"client.id", "auto.offset.reset", "group.instance.id"} & set(property_texts(source.client))
    assert target.abort_on_send_failure
    assert not target.synchronous
    assert not target.idempotence_required
    assert target.connection.client_id == "producer-1"


@pytest.mark.parametrize(("reset", "kept"), [("", True), ("latest", True), ("earliest", False), ("none", False)])
def test_new_topics_from_earliest_is_about_latest(tool: Tool, reset: str, kept: bool) -> None:
    """The other words of `auto.offset.reset` say all there is to say."""
    file = CONSUMER + (f"auto.offset.reset={reset}\n" if reset else "")
    assert tool.settings("--new.topics.from", "earliest", consumer=file).source.new_from_earliest is kept
    assert not tool.settings(consumer=file).source.new_from_earliest


def test_a_start_at_a_time_is_no_start_at_the_first_record(tool: Tool) -> None:
    words = ("--start.from", "2025-11-01T00:00Z", "--new.topics.from", "earliest")
    with pytest.raises(ConfigurationError, match="^start.from and new.topics.from=earliest exclude each other"):
        tool.settings(*words, consumer=CONSUMER)
    settings = tool.settings(*words, consumer=f"{CONSUMER}auto.offset.reset=earliest\n")
    assert settings.features[START_FROM] == StartTimes(1_761_955_200_000)


def test_settings_from_the_consumer_file(tool: Tool) -> None:
    source = tool.settings(
        consumer=CONSUMER
        + "auto.offset.reset=none\nmetadata.max.age.ms=9223372036854775807\n"
        + "default.api.timeout.ms=1500\nmax.poll.interval.ms=2147483647\n"
        + "group.instance.id=i\nclient.id=mine\n"
    ).source
    assert source.offset_reset == "none"
    assert (source.metadata_max_age, source.api_timeout) == (2_147_483.647, 1.5)
    assert source.max_poll_interval == 2_147_483.647
    assert source.group_instance_id == "i"
    assert "client.id" not in property_texts(source.client)


@pytest.mark.parametrize(("level", "committed"), [("", False), ("read_committed", True), ("read_uncommitted", False)])
def test_whether_aborted_records_are_copied(tool: Tool, level: str, committed: bool) -> None:
    """Asked by the copying, and by a cut-over that waits for it."""
    line = f"isolation.level={level}\n" if level else ""
    assert tool.settings(consumer=CONSUMER + line).source.committed_only is committed


def test_producer_file(tool: Tool) -> None:
    target = tool.settings(producer=PRODUCER + "client.id=pp\nenable.idempotence=true\n").target
    assert target.connection.client_id == "pp"
    assert target.idempotence_required


@pytest.mark.parametrize(("kind", "synchronous"), [("sync", True), ("sync ", False), ("a", False)])
def test_producer_type(tool: Tool, kind: str, synchronous: bool) -> None:
    target = tool.settings("--abort.on.send.failure", "false", producer=f"{PRODUCER}producer.type={kind}\n").target
    assert target.synchronous is synchronous
    assert target.abort_on_send_failure is synchronous
    assert not [note for note in tool.notes if "producer.type" in note.text]


def test_enable_auto_commit(tool: Tool) -> None:
    """Difference auto-commit-after-copy."""
    file = CONSUMER + "enable.auto.commit=true\n"
    assert tool.settings(consumer=file).commit_interval == 5.0
    assert tool.settings("--offset.commit.interval.ms=100", consumer=file).commit_interval == 0.1
    assert property_texts(tool.settings(consumer=file).source.client)["enable.auto.commit"] == "false"
    texts = [note.text for note in tool.notes]
    assert ("Property enable.auto.commit is overridden to true - data loss or message reordering is possible.") in texts


def test_tuning_of_librdkafka_alone_is_told_from_what_every_member_reads(tool: Tool) -> None:
    read = "session.timeout.ms=9000\nlibrdkafka.heartbeat.interval.ms=100\n"
    assert tool.settings(consumer=CONSUMER + read).source.for_librdkafka == ()
    tuned = read + "librdkafka.debug=cgrp\nlibrdkafka.broker.address.ttl=7\n"
    assert set(tool.settings(consumer=CONSUMER + tuned).source.for_librdkafka) == {"debug", "broker.address.ttl"}


@pytest.mark.parametrize("interval", ["0", "-5"])
def test_commit_interval_is_never_negative(tool: Tool, interval: str) -> None:
    assert tool.settings("--offset.commit.interval.ms", interval).commit_interval == 0.0


def test_trailing_blank_counts_as_override(tool: Tool) -> None:
    tool.settings(producer=PRODUCER + "acks=all \n")
    assert [note.text for note in tool.notes if "overridden" in note.text] == [
        "Property acks is overridden to all  - data loss or message reordering is possible."
    ]


def test_missing_group_id(tool: Tool) -> None:
    with pytest.raises(InvalidPattern) as refused:
        tool(consumer="bootstrap.servers=127.0.0.1:1\n", include="a, b")
    assert str(refused.value) == "Invalid expression syntax: a, b"
    assert refused.value.exit_code == 255


@pytest.mark.parametrize("text", ["", "  ", "\"'"])
def test_empty_pattern(tool: Tool, text: str) -> None:
    with pytest.raises(InvalidPattern) as refused:
        tool(include=text)
    assert str(refused.value) == f"Invalid expression syntax: {text}"


@pytest.mark.parametrize("text", ["", "  "])
def test_empty_group_id(tool: Tool, text: str) -> None:
    """Difference empty-group-id."""
    with pytest.raises(ConfigurationError, match=r"group\.id is empty"):
        tool(consumer=f"bootstrap.servers=127.0.0.1:1\ngroup.id={text}\n")


def test_no_streams_still_reads_the_producer_file(tool: Tool) -> None:
    assert isinstance(tool("--num.streams", "0", consumer=""), NothingToDo)
    with pytest.raises(ConfigurationError, match="No resolvable bootstrap urls"):
        tool("--num.streams", "0", producer="")


def test_order_of_checks(tool: Tool) -> None:
    """Each call has every later error too; the first one is reported."""
    everything_wrong = ("--num.streams=x", "--offset.commit.interval.ms=y")
    steps: list[tuple[list[str], type[LegacyMMError], str]] = [
        (["--bogus"], ConfigurationError, "bogus is not a recognized option"),
        ([], UsageError, r"\[consumer\.config\]"),
        (["--consumer.config", "no"], UsageError, r"\[producer\.config\]"),
        (["--consumer.config", "no", "--producer.config", "no"], ConfigurationError, "File.*: no"),
    ]
    for words, kind, text in steps:
        with pytest.raises(kind, match=text):
            translate([*words, *everything_wrong], lambda own: read_own_options(own, {}))
    flags = ("--abort.on.send.failure=z", "--offset.commit.interval.ms=y", "--num.streams=x")
    for gone, text in enumerate(("input string", "option offset.commit", "option num.streams")):
        with pytest.raises(ConfigurationError, match=text):
            tool(*flags[gone:], producer="")
    with pytest.raises(ConfigurationError, match="bootstrap"):
        tool("--include=u", "--consumer.rebalance.listener=x", producer="")


def test_own_options(tool: Tool) -> None:
    made = tool.settings(
        "--spark.master=spark://h:1",
        "--spark.conf",
        "spark.cores.max=4",
        "--shutdown.timeout.ms=1500",
        "--producer.tuning=literal",
        "--on.gap=fail",
        producer=PRODUCER + "batch.size=16384\n",
    )
    assert made.process.spark.master == "spark://h:1"
    assert made.process.spark.conf == {"spark.cores.max": "4"}
    assert made.process.shutdown_timeout == 1.5
    assert made.fail_on_gap
    assert made.target.client.produce.batch_bytes == 16384
    with pytest.raises(ConfigurationError, match=r"spark\.speculation"):
        tool("--spark.conf", "spark.speculation=true")


def test_notes_and_repr_hold_no_secret(tool: Tool) -> None:
    login = (
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config="
        "org.apache.kafka.common.security.plain.PlainLoginModule required "
        'username="u" password="hush";\n'
    )
    result = tool(consumer=CONSUMER + login, producer=PRODUCER + login.replace("hush", "hush2") + "foo=bar\n")
    assert isinstance(result, MirrorRun)
    assert {"hush", "hush2"} <= set(result.secrets)
    assert "hush" not in repr(result)
    assert "hush" not in repr(tool.notes)
    assert result.flows[0].source.connection.sasl.password == Secret("hush")


def test_secrets_are_hidden_before_the_first_error_is_said(tool: Tool) -> None:
    """Of Java's options and of both files, also of the one that is wrong."""
    read, written = f"{CONSUMER}ssl.key.password=read-word\n", "ssl.key.password=write-word\n"
    with pytest.raises(ConfigurationError, match="bootstrap"):
        tool(consumer=read, producer=written, variables={"KAFKA_OPTS": "-Djavax.net.ssl.keyStorePassword=java-word"})
    assert tool.hidden == {"read-word", "write-word", "java-word"}


def test_what_a_provider_gave_is_hidden_before_an_error_quotes_it(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRROR_LINGER", "of-the-provider")
    provider = "org.apache.kafka.common.config.provider.EnvVarConfigProvider"
    file = f"{PRODUCER}config.providers=env\nconfig.providers.env.class={provider}\n"
    with pytest.raises(ConfigurationError, match="Invalid value of-the-provider"):
        tool(producer=f"{file}linger.ms=${{env:MIRROR_LINGER}}\n")
    assert tool.hidden == {"of-the-provider"}


@pytest.mark.parametrize(
    ("listed", "why"),
    [
        ("file,env", "its provider has no value for it"),
        ("file, env", "blanks in config.providers are parts of the names, so leave them out"),
    ],
)
def test_a_reference_that_nobody_looks_up_is_told_with_its_line(tool: Tool, listed: str, why: str) -> None:
    provider = "org.apache.kafka.common.config.provider.EnvVarConfigProvider"
    file = f"config.providers={listed}\nconfig.providers.env.class={provider}\nclient.id=${{env:NO_SUCH_NAME_HERE}}\n"
    tool.settings(consumer=f"{CONSUMER}{file}", producer=f"{PRODUCER}{file}")
    told = [note for note in tool.notes if "stays as it is written" in note.text]
    kept = f"client.id holds ${{env:...}}, which stays as it is written: {why}."
    assert [(note.level, note.text) for note in told] == [
        (logging.WARNING, f"{name}.properties:{len(text.splitlines()) + 3}: {kept}")
        for name, text in (("p", PRODUCER), ("c", CONSUMER))
    ]


def test_flags_of_the_producer_file_win_over_the_consumer_file_s(tool: Tool) -> None:
    flag = "preserve.partitions"
    made = tool.settings(producer=f"{PRODUCER}{flag}=true\n", consumer=f"{CONSUMER}{flag}=false\n")
    assert made.features.preserve_partitions


def test_properties_of_a_feature_s_own_clients_win_over_the_files(tool: Tool) -> None:
    made = tool.settings("--source.admin", "bootstrap.servers=127.0.0.1:9")
    assert made.source_admin is not None
    assert made.source_admin.connection.bootstrap_servers == ("127.0.0.1:9",)
    assert made.target_admin is None


def test_buffer_division_is_said(tool: Tool) -> None:
    tool.settings("--num.streams", "2")
    assert any("buffer.memory is divided" in note.text for note in tool.notes)


def test_the_environment_reaches_java_and_the_login(tool: Tool, tmp_path: Path) -> None:
    """Both clients take the login of the file, its password is a secret, and the heap is spoken of."""
    (tmp_path / "jaas.conf").write_text(
        "KafkaClient { org.apache.kafka.common.security.plain.PlainLoginModule required "
        'username="u" password="${mirror.word}"; };'
    )
    sasl = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
    options = "-Djava.security.auth.login.config=jaas.conf -Dmirror.word=hush -Djavax.net.ssl.keyStorePassword=hush2"
    variables = {"KAFKA_OPTS": options, "KAFKA_HEAP_OPTS": "-Xmx64m", "CLASSPATH": "h.jar"}
    run = tool(consumer=CONSUMER + sasl, producer=PRODUCER + sasl, variables=variables)
    assert isinstance(run, MirrorRun)
    assert run.flows[0].process.spark.jvm == read(variables).jvm
    assert run.flows[0].source.connection.sasl.password == Secret("hush")
    assert run.flows[0].target.connection.sasl.password == Secret("hush")
    assert {"hush", "hush2"} <= set(run.secrets)
    assert "hush" not in repr(run)
    assert [note.text for note in tool.notes if "512 MB" in note.text] == [
        "-Xmx64m is raised to 512 MB, the least that Spark takes."
    ]


def test_java_s_network_properties_do_not_reach_the_clients(tool: Tool) -> None:
    """Difference java-network-properties."""
    words = (
        "-Djava.security.krb5.realm=R",
        "-Djava.security.krb5.kdc=k",
        "-Dhttps.proxyHost=p",
        "-Djava.net.preferIPv4Stack=true",
    )
    plain, given = tool(), tool(variables={"KAFKA_OPTS": " ".join(words)})
    assert isinstance(plain, MirrorRun)
    assert isinstance(given, MirrorRun)
    assert given.flows[0].process.spark.jvm.options == words
    for one, other in zip(plain.flows, given.flows, strict=True):
        assert (one.source, one.target) == (other.source, other.target)


def test_offset_syncs_want_to_be_told_where_records_are(tool: Tool) -> None:
    aliases = ("--source.cluster.alias", "west", "--target.cluster.alias", "east")
    words = (*aliases, "--preserve.partitions", "true", "--emit.offset-syncs.enabled", "true")
    assert tool.settings(*words).features[OFFSET_SYNCS] is not None
    with pytest.raises(ConfigurationError, match=r"emit\.offset-syncs\.enabled=true and acks=0 exclude each other"):
        tool(*words, producer=PRODUCER + "acks=0\n")


@pytest.mark.parametrize(
    ("include", "words", "told"),
    [
        ("orders|pay.*", (), []),
        ("'orders','pay'", (), ['--include: "orders\'"', '--include: "\'pay"']),
        ("orders # old", (), ["--include: 'orders#old'"]),
        (".*", ("--topics", "orders, pay #2"), ["topics: 'pay #2'"]),
        (".*", ("--topics.exclude", '"audit"'), ["topics.exclude: '\"audit\"'"]),
    ],
)
def test_an_entry_that_no_topic_can_match(tool: Tool, include: str, words: tuple[str, ...], told: list[str]) -> None:
    """The line runs as with the legacy tool, which copies nothing of it."""
    tool.settings(*words, include=include)
    found = [note.text for note in tool.notes if "matches no topic" in note.text]
    assert [text.partition(" matches")[0] for text in found] == told
    assert all(note.level == logging.WARNING for note in tool.notes if note.text in found)
