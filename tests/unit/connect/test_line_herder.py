"""The files of a command line that are read again: what changes, what stays, and what is refused."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import pytest

from legacy_mm.base.option import OptionValue
from legacy_mm.cli.parser import read_own_options
from legacy_mm.cli.words_again import start_words
from legacy_mm.connect import process_herder
from legacy_mm.connect.entities import ConnectRestError, TargetState
from legacy_mm.connect.legacy_herder import LegacyFlow
from legacy_mm.connect.line_herder import LineHerder
from legacy_mm.features.exactly_once.feature import EXACTLY_ONCE
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.mirror import Mirror
from legacy_mm.flow.position_book import GroupBook
from legacy_mm.logs.log4j_found import Found
from legacy_mm.metrics.health import Phase
from legacy_mm.words.legacy_tool import command_line
from legacy_mm.words.legacy_tool.releases import CURRENT
from legacy_mm.words.legacy_tool.translate import MirrorRun, translate
from tests.fakes.groups import OneGroup

NAME = "source->target.MirrorSourceConnector"
SERVERS = "bootstrap.servers = 127.0.0.1:1\n"


class Bench:
    """A mirror of a command line with three files, and its herder."""

    def __init__(self, folder: Path) -> None:
        self.files = {name: folder / f"{name}.properties" for name in ("consumer", "producer", "options")}
        self.write("consumer", "group.id = g")
        self.write("producer")
        self.write("options")
        argv = [word for name in ("consumer", "producer") for word in (f"--{name}.config", str(self.files[name]))]
        argv += ["--whitelist", "a", "--features.config", str(self.files["options"])]
        words = start_words(
            command_line.parse(argv, CURRENT).own_words,
            lambda options: translate(argv, lambda _: options),
            Found,
        )
        run = translate(argv, lambda given: read_own_options(given, {}))
        assert isinstance(run, MirrorRun)
        self.built: list[Settings] = []
        self.mirror = Mirror((), None, Mock())
        self.flow = LegacyFlow(run.flows[0], Mock())
        host = cast("Any", SimpleNamespace(registries=[], phase=Phase.RUNNING, spark=Mock()))
        self.mirrors = [self.mirror]
        self.herder = LineHerder(run, [self.flow], self.mirrors, host, "here:8083", words, self._build)

    def _build(self, settings: Settings) -> Mirror:
        self.built.append(settings)
        return Mirror((), None, Mock())

    def write(self, name: str, *lines: str) -> None:
        servers = SERVERS if name != "options" else ""
        self.files[name].write_text(servers + "\n".join(lines))

    def reload(self, *, dry_run: bool = False) -> Any:
        return self.herder.reload(dry_run=dry_run).body(dry_run=dry_run)

    def replaced(self) -> Settings:
        """Let the mirror that was ordered take its place; return what it is built of."""
        make = self.mirrors[0].successor()
        assert make is not None
        self.mirrors[0] = make()
        return self.built[-1]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def flow(plan: Any) -> tuple[str, list[dict[str, Any]]]:
    (found,) = plan["flows"]
    return found["action"], found["keys"]


def key(name: str, before: str | None, after: str | None) -> dict[str, Any]:
    return {"key": name, "before": before, "after": after}


def test_the_group_of_a_flow_is_asked_for(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    groups = OneGroup("source", {})
    monkeypatch.setattr(process_herder, "position_book", lambda settings: GroupBook(settings.source.group_id, groups))
    assert bench.herder.flow_group("source->target")[:2] == ("g", "Empty")
    groups.refuses = "no right"
    for flow, code in (("source->target", 500), ("another", 404)):
        with pytest.raises(ConnectRestError) as refused:
            bench.herder.flow_group(flow)
        assert refused.value.status == code


def test_flags_of_the_clients_files_have_their_places(bench: Bench) -> None:
    """The producer file counts more than the consumer file, and an option of ours more than both."""
    bench.write("consumer", "group.id = g", "topics = c", "sync.topic.configs.enabled = true", "admin.retries = 7")
    bench.write("producer", "topics = p", "topics.exclude = p")
    bench.write("options", "topics.exclude = x")
    bench.reload()
    consumer, producer = bench.files["consumer"], bench.files["producer"]
    assert bench.herder.flow_options("source->target") == [
        OptionValue("topics", "p", f"{producer}:2"),
        OptionValue("sync.topic.configs.enabled", "true", f"{consumer}:4"),
        OptionValue("admin.retries", "7", f"{consumer}:5"),
    ]
    assert bench.herder.flow_options("another") == []


def test_files_without_a_difference_touch_nothing(bench: Bench) -> None:
    bench.write("consumer", "group.id = g", "# a comment")
    assert flow(bench.reload()) == ("none", [])
    assert bench.mirror.successor() is None


def test_each_of_the_files_may_change_the_mirror(bench: Bench) -> None:
    bench.write("consumer", "group.id = g", "fetch.min.bytes = 7")
    bench.write("producer", "linger.ms = 9")
    bench.write("options", "topics.exclude = x", "on.gap = fail")
    expected = [
        key("--consumer.config fetch.min.bytes", None, "7"),
        key("--producer.config linger.ms", None, "9"),
        key("on.gap", "log", "fail"),
        key("topics.exclude", None, "x"),
    ]
    assert flow(bench.reload(dry_run=True)) == ("change", expected)
    assert bench.mirror.successor() is None
    assert flow(bench.reload()) == ("change", expected)
    settings = bench.replaced()
    assert settings.source.client.fetch.min_bytes == 7
    assert settings.fail_on_gap
    assert settings.features.topics is not None
    assert flow(bench.reload()) == ("none", []), "they are read by then"


def test_a_second_reload_waits_for_the_first(bench: Bench) -> None:
    bench.write("options", "on.gap = fail")
    bench.reload()
    bench.write("options")
    with pytest.raises(ConnectRestError) as error:
        bench.reload()
    assert error.value.status == 409
    bench.replaced()
    assert flow(bench.reload()) == ("change", [key("on.gap", "fail", "log")])


@pytest.mark.parametrize("state", [TargetState.PAUSED, TargetState.STOPPED])
def test_a_mirror_that_is_paused_or_stopped_stays_so(bench: Bench, state: TargetState) -> None:
    bench.herder.set_target_state(NAME, state)
    if state is TargetState.STOPPED:
        make = bench.mirror.successor()
        assert make is not None
        bench.mirrors[0] = make()
    bench.write("options", "on.gap = fail")
    bench.reload()
    assert bench.mirrors[0].gives_way is (state is TargetState.PAUSED)
    if state is TargetState.STOPPED:
        bench.herder.set_target_state(NAME, TargetState.STARTED)
    assert bench.mirrors[0].orders.is_paused is (state is TargetState.PAUSED)
    assert bench.replaced().fail_on_gap


def test_where_the_positions_are_is_left_as_it_is(bench: Bench) -> None:
    bench.write("consumer", "group.id = another", "fetch.min.bytes = 7")
    bench.write(
        "options", "exactly.once = true", "source.cluster.alias = west", "target.cluster.alias = east", "admin.port = 1"
    )
    plan = bench.reload()
    _, keys = flow(plan)
    left = {each["key"]: (each["before"], each["after"]) for each in keys if "kept_because" in each}
    assert left == {"--consumer.config group.id": ("g", "another"), "exactly.once": ("false", "true")}
    assert [each["key"] for each in plan["process"]] == ["admin.port"]
    settings = bench.replaced()
    assert (settings.source.group_id, settings.features[EXACTLY_ONCE]) == ("g", None)
    assert settings.source.client.fetch.min_bytes == 7
    again = bench.reload()
    action, keys = flow(again)
    assert (action, {each["key"] for each in keys}) == ("none", set(left)), "the files still say so"
    assert again["process"] == plan["process"]


@pytest.mark.parametrize(
    ("file", "line", "words"),
    [
        ("consumer", "fetch.min.bytes = many", "fetch.min.bytes"),
        ("producer", "acks = 7", "acks"),
        ("options", "no.such.option = 1", "no.such.option"),
        ("options", "sync.topic.configs.enabled = perhaps", "sync.topic.configs.enabled"),
        ("producer", "ssl.keystore.type = PEM\nsecurity.protocol = SSL\nssl.keystore.location = /no/such", "/no/such"),
    ],
)
def test_what_cannot_run_is_refused_and_all_goes_on(bench: Bench, file: str, line: str, words: str) -> None:
    bench.write(file, *(["group.id = g"] if file == "consumer" else []), line)
    with pytest.raises(ConnectRestError) as error:
        bench.reload()
    assert (error.value.status, words in error.value.message) == (400, True), error.value.message
    assert bench.mirror.successor() is None
    bench.files[file].unlink()
    with pytest.raises(ConnectRestError, match=f"{file}.properties"):
        bench.reload()
