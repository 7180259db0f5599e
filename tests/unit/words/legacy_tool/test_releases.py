"""What `--legacy.release` changes beyond the recorded calls: releases by name, old files, old options."""

from __future__ import annotations

from pathlib import Path

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.cli.parser import read_own_options
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.words.java_clients.client_properties.rule import Note
from legacy_mm.words.legacy_tool.releases import CURRENT, find_release, grammar_of
from legacy_mm.words.legacy_tool.startup import PlainRefusal
from legacy_mm.words.legacy_tool.translate import Help, LineOutcome, MirrorRun, Version, translate

ZOOKEEPER = "zookeeper.connect=zk:2181\ngroup.id=g\n"
KAFKA = "bootstrap.servers=127.0.0.1:1\ngroup.id=g\n"
BROKERS = "--source.bootstrap.servers=127.0.0.1:1"
FILES = ("--consumer.config", "c", "--producer.config", "p")


class Tool:
    """Writes the two files and translates."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.notes: list[Note] = []

    def __call__(self, release: str, *words: str, consumer: str = ZOOKEEPER, producer: str = "") -> LineOutcome:
        (self._folder / "c").write_text(consumer)
        (self._folder / "p").write_text(producer or "bootstrap.servers=127.0.0.1:2\nmetadata.broker.list=127.0.0.1:2\n")
        self.notes.clear()
        return translate([*FILES, *words], lambda own: read_own_options(own, {}), self.notes, grammar_of(release))

    def settings(self, release: str, *words: str, **files: str) -> Settings:
        result = self(release, *words, **files)
        assert isinstance(result, MirrorRun)
        return result.flows[0]


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tool:
    monkeypatch.chdir(tmp_path)
    return Tool(tmp_path)


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("3.9", (3, 9, 1)),
        ("3.9.0", (3, 9, 0)),
        ("0.8.2", (0, 8, 2, 2)),
        ("0.8.2.1", (0, 8, 2, 1)),
        ("0.10", (0, 10, 2, 2)),
        ("2", (2, 8, 2)),
    ],
)
def test_a_release_is_found(text: str, release: tuple[int, ...]) -> None:
    assert find_release(text) == release


@pytest.mark.parametrize("text", ["", "4.0", "0.7", "3.10", "2.9.0", "3.9.1.1", "latest", "-1", "٣.9"])
def test_no_release_of_the_tool(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"0\.8\.0 to 3\.9"):
        find_release(text)


def test_the_current_release_is_the_default(tool: Tool) -> None:
    assert grammar_of(read_own_options([], {}).legacy_release) == CURRENT


@pytest.mark.parametrize(
    ("release", "words", "text"),
    [
        ("2.0.1", ["--include", "--version"], "2.0.1 (Commit:fa14705e51bd2ce5)"),
        ("2.3", ["--version"], "2.3.1 (Commit:18a913733fb71c01)"),
        ("3.4.0", ["--version"], "3.4.0 (Commit:unknown)"),
        ("3.5", ["--version"], "3.5.2"),
    ],
)
def test_version(release: str, words: list[str], text: str) -> None:
    """Difference version-by-script."""
    answer = translate(words, lambda own: read_own_options(own, {}), [], grammar_of(release))
    assert answer == Version(text)


def test_no_words_before_0_8_2() -> None:
    with pytest.raises(Exception, match=r'Missing required argument "\[consumer\.config\]"'):
        translate([], lambda own: read_own_options(own, {}), [], grammar_of("0.8.1"))
    assert isinstance(translate([], lambda own: read_own_options(own, {}), [], grammar_of("0.8.2")), Help)


@pytest.mark.parametrize("release", ["0.8.0", "0.8.2", "0.9", "0.10.0", "0.10.2", "1.1"])
def test_zookeeper_files_need_brokers(tool: Tool, release: str) -> None:
    """Difference no-zookeeper."""
    with pytest.raises(ConfigurationError, match=r"zk:2181.*--source\.bootstrap\.servers"):
        tool(release, "--whitelist", "t")
    made = tool.settings(release, "--whitelist", "a, b", BROKERS)
    assert made.source.connection.bootstrap_servers == ("127.0.0.1:1",)
    assert made.topics.pattern == "a|b"
    assert any("ZooKeeper" in note.text and note.logger == "legacy_mm" for note in tool.notes)


@pytest.mark.parametrize("release", ["0.8.2", "0.9", "0.10.0", "1.1"])
def test_blacklist(tool: Tool, release: str) -> None:
    topics = tool.settings(release, "--blacklist", "a,b.*", BROKERS).topics
    assert (topics.pattern, topics.inverted, topics.exclude_internal) == ("a|b.*", True, True)
    assert not tool.settings(release, "--whitelist", "a", BROKERS).topics.inverted


def test_the_file_names_brokers_where_the_release_allowed_both(tool: Tool) -> None:
    both = ZOOKEEPER + "bootstrap.servers=127.0.0.1:1\n"
    assert tool.settings("0.9", "--whitelist", "t", consumer=both).source.group_id == "g"
    with pytest.raises(PlainRefusal, match="cannot be used together"):
        tool("1.1", "--whitelist", "t", consumer=both)


def test_zookeeper_consumer_file(tool: Tool) -> None:
    file = ZOOKEEPER + (
        "auto.offset.reset=smallest\npartition.assignment.strategy=roundrobin\nfetch.message.max.bytes=7000\n"
        "auto.commit.enable=true\nqueued.max.message.chunks=3\n"
    )
    source = tool.settings("1.1", "--whitelist", "t", BROKERS, consumer=file).source
    assert source.offset_reset == "earliest"
    assert source.client.membership.assignors == ("roundrobin",)
    assert source.client.fetch.partition_bytes == 7000
    assert "Property auto.commit.enable is overridden to true - data loss or message reordering is possible." in [
        note.text for note in tool.notes
    ]
    with pytest.raises(ConfigurationError, match=r"Wrong value latest of auto\.offset\.reset in ConsumerConfig"):
        tool("1.1", "--whitelist", "t", BROKERS, consumer=ZOOKEEPER + "auto.offset.reset=latest\n")


@pytest.mark.parametrize("release", ["0.8.0", "0.8.2", "0.9", "0.10.0", "1.1"])
@pytest.mark.parametrize("group", ["my group", "a/b", "g ", "gr\u00fcn", "a:b"])
def test_letters_that_the_zookeeper_consumer_refuses(tool: Tool, release: str, group: str) -> None:
    """It looked at its own name first, which since 0.9 the tool had made of the group's; the line is the group's."""
    named = group if release.startswith("0.8") else f"{group}-0"
    file = f"zookeeper.connect=zk\ngroup.id={group.encode('unicode_escape').decode().replace('xfc', 'u00fc')}\n"
    with pytest.raises(ConfigurationError, match=f"^kafka.common.InvalidConfigException: client.id {named} is") as told:
        tool(release, "--whitelist", "t", BROKERS, consumer=file)
    assert told.value.__notes__ == ["c:2: group.id must be a text of letters, digits, dots, dashes and underscores."]


def test_a_client_name_of_0_8(tool: Tool) -> None:
    """The file's own counts there, and is forgotten later."""
    file = ZOOKEEPER + "client.id=a b\n"
    for release, words in (("0.8.2", "client.id a b is illegal"), ("0.8.0", "client.id a b is illegal")):
        with pytest.raises(ConfigurationError, match=words):
            tool(release, "--whitelist", "t", BROKERS, consumer=file)
    with pytest.raises(ConfigurationError, match=r"group\.id g g is illegal"):
        tool("0.8.2", "--whitelist", "t", BROKERS, consumer="zookeeper.connect=z\ngroup.id=g g\nclient.id=c\n")
    assert tool.settings("0.9", "--whitelist", "t", BROKERS, consumer=file).source.group_id == "g"


def test_letters_of_a_group_in_kafkas_own_consumer(tool: Tool) -> None:
    for release, more in (("0.9", ["--new.consumer"]), ("1.1", []), ("3.9", [])):
        file = "bootstrap.servers=127.0.0.1:1\ngroup.id=a b/c\n"
        assert tool.settings(release, "--whitelist", "t", *more, consumer=file).source.group_id == "a b/c"


def test_scala_producer_file(tool: Tool) -> None:
    file = (
        "metadata.broker.list=127.0.0.1:7\nrequest.required.acks=-1\ncompression.codec=2\nproducer.type=sync\n"
        "queue.buffering.max.messages=10\npartitioner.class=kafka.producer.DefaultPartitioner\n"
    )
    target = tool.settings("0.8.2", "--whitelist", "t", BROKERS, producer=file).target
    assert target.connection.bootstrap_servers == ("127.0.0.1:7",)
    assert target.client.produce.compression == "snappy"
    assert target.client.produce.acks == -1
    assert target.synchronous
    with pytest.raises(ConfigurationError, match=r"Missing required property 'metadata\.broker\.list'"):
        tool("0.8.2", "--whitelist", "t", BROKERS, producer=KAFKA)
    assert tool.settings("0.8.2", "--new.producer", "--whitelist", "t", BROKERS, producer=KAFKA)


def test_options_without_effect_are_said_once(tool: Tool) -> None:
    tool("0.8.2", "--num.prod", "3", "--queue.size", "9", "--new.producer", "--whitelist", "t", BROKERS)
    said = [note.text for note in tool.notes if "has no effect" in note.text]
    assert [text.split()[0] for text in said] == ["--num.producers", "--queue.size", "--new.producer"]


def test_several_consumer_files(tool: Tool, tmp_path: Path) -> None:
    """A flow for each, in the order of the command line, with streams numbered through all of them."""
    (tmp_path / "other").write_text(
        "zookeeper.connect=far:2181\ngroup.id=h\nbootstrap.servers=127.0.0.1:3\nauto.offset.reset=smallest\n"
    )
    words = ("--num.streams", "2", "--whitelist", "t", BROKERS)
    alone = tool.settings("0.8.2", *words)
    result = tool("0.8.2", "--consumer.config", "other", *words)
    assert isinstance(result, MirrorRun)
    one, other = result.flows
    assert (one.flow, other.flow) == ("source c->target", "source other->target")
    assert [(flow.first_stream, flow.streams) for flow in result.flows] == [(0, 2), (2, 2)]
    assert [flow.source.group_id for flow in result.flows] == ["g", "h"]
    assert [flow.source.connection.bootstrap_servers for flow in result.flows] == [("127.0.0.1:1",), ("127.0.0.1:3",)]
    assert (one.source.offset_reset, other.source.offset_reset) == ("latest", "earliest")
    assert one.topics == other.topics == alone.topics
    assert one.target == other.target
    assert one.target.client.produce.buffer_bytes * 2 == alone.target.client.produce.buffer_bytes


def test_the_same_consumer_file_counts_once(tool: Tool, tmp_path: Path) -> None:
    """Difference consumer-file-once."""
    (tmp_path / "link").symlink_to("c")
    again = ("--consumer.config", "c", "--consumer.config", "./c", "--consumer.config", "link")
    settings = tool.settings("0.8.2", *again, "--whitelist", "t", BROKERS)
    assert (settings.flow, settings.streams) == ("source->target", 1)


def test_one_option_does_not_name_the_brokers_of_two_sources(tool: Tool, tmp_path: Path) -> None:
    for connect, refused in (("zk:2181", False), ("far:2181", True)):
        (tmp_path / "other").write_text(f"zookeeper.connect={connect}\ngroup.id=h\n")
        words = ("0.8.2", "--consumer.config", "other", "--whitelist", "t", BROKERS)
        if refused:
            with pytest.raises(ConfigurationError, match="far:2181, zk:2181 are several: put bootstrap.servers into"):
                tool(*words)
        else:
            assert isinstance(tool(*words), MirrorRun)


def test_every_consumer_file_must_be_right(tool: Tool, tmp_path: Path) -> None:
    words = ("0.8.2", "--consumer.config", "other", "--whitelist", "t", BROKERS)
    (tmp_path / "other").write_text("group.id=h\n")
    with pytest.raises(ConfigurationError, match="Missing required property 'zookeeper.connect'"):
        tool(*words)
    (tmp_path / "other").unlink()
    with pytest.raises(ConfigurationError, match="FileNotFoundException: other"):
        tool(*words)


@pytest.mark.parametrize(
    ("release", "pattern", "exclude_internal"),
    [("0.9", "a, b", False), ("0.10.0", "a, b", True), ("0.10.1", "a, b", True), ("0.10.2", "a|b", True)],
)
def test_patterns_of_the_new_consumer(tool: Tool, release: str, pattern: str, exclude_internal: bool) -> None:
    topics = tool.settings(release, "--new.consumer", "--whitelist", "a, b", consumer=KAFKA).topics
    assert (topics.pattern, topics.exclude_internal) == (pattern, exclude_internal)


@pytest.mark.parametrize(
    ("release", "names"),
    [
        ("0.9", ["retries", "block.on.buffer.full", "acks", "max.in.flight.requests.per.connection"]),
        ("1.1", ["retries", "max.block.ms", "acks", "max.in.flight.requests.per.connection"]),
        ("2.1", ["delivery.timeout.ms", "max.block.ms", "acks", "max.in.flight.requests.per.connection"]),
    ],
)
def test_overridden_producer_properties(tool: Tool, release: str, names: list[str]) -> None:
    producer = "bootstrap.servers=127.0.0.1:2\nretries=1\nmax.in.flight.requests.per.connection=2\nacks=1\n"
    producer += "max.block.ms=1\nblock.on.buffer.full=false\ndelivery.timeout.ms=40000\n"
    tool(release, "--new.consumer", "--whitelist", "t", consumer=KAFKA, producer=producer)
    said = [note.text.split()[1] for note in tool.notes if "overridden" in note.text]
    assert said == names


@pytest.mark.parametrize(("release", "known"), [("2.8", True), ("3.0", False), ("3.9", False)])
def test_the_dns_lookup_of_before_3_0(tool: Tool, release: str, known: bool) -> None:
    files = {
        "consumer": "bootstrap.servers=127.0.0.1:1\ngroup.id=g\nclient.dns.lookup=default\n",
        "producer": "bootstrap.servers=127.0.0.1:2\nclient.dns.lookup=default\n",
    }
    if not known:
        with pytest.raises(ConfigurationError, match=r"Invalid value default for configuration client\.dns\.lookup"):
            tool(release, "--whitelist", "t", **files)
        return
    made = tool.settings(release, "--whitelist", "t", **files)
    assert made.source.connection.dns_lookup == "use_all_dns_ips"
    assert made.target.connection.dns_lookup == "use_all_dns_ips"
