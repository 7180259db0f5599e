"""`--message.handler` and `--consumer.rebalance.listener` as settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.cli.parser import read_own_options
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.words.legacy_tool.environment import read
from legacy_mm.words.legacy_tool.translate import MirrorRun, translate

Settle = Callable[..., Settings]


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settle:
    """The settings of a line with these words more, and with this CLASSPATH."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c").write_text("bootstrap.servers=127.0.0.1:1\ngroup.id=g\n")
    (tmp_path / "p").write_text("bootstrap.servers=127.0.0.1:2\n")

    def settle(*words: str, class_path: str = "", variables: Mapping[str, str] = {}) -> Settings:
        line = ["--consumer.config", "c", "--producer.config", "p", "--include", "t", *words]
        environment = read({"CLASSPATH": class_path, **variables})
        outcome = translate(line, lambda own: read_own_options(own, {}), environment=environment)
        assert isinstance(outcome, MirrorRun)
        return outcome.flows[0]

    return settle


def test_without_them_there_is_nothing(settings: Settle) -> None:
    made = settings("--message.handler.args", "x", "--rebalance.listener.args", "y")
    assert (made.handler, made.listener) == (None, None)


@pytest.mark.parametrize(("words", "argument"), [((), None), (("x",), "x"), (("a b,c",), "a b,c"), (("",), "")])
def test_arguments_are_one_string_or_none(settings: Settle, words: tuple[str, ...], argument: str | None) -> None:
    given = [word for text in words for word in ("--message.handler.args", text, "--rebalance.listener.args", text)]
    made = settings("--message.handler", "h.Ok", "--consumer.rebalance.listener", "h.L", *given)
    assert made.handler is not None
    assert made.listener is not None
    assert (made.handler.name, made.handler.argument) == ("h.Ok", argument)
    assert (made.listener.name, made.listener.argument) == ("h.L", argument)


def test_a_script_is_named_by_its_whole_path(settings: Settle) -> None:
    handler = settings("--message.handler", "some/handler.py:Rename").handler
    assert handler is not None
    assert handler.name == f"{Path.cwd()}/some/handler.py:Rename"


@pytest.mark.parametrize(("master", "here"), [("embedded", 1), ("spark://m:7077", 0)])
def test_no_word_of_a_class_path_is_the_present_folder_but_does_not_travel(
    settings: Settle, tmp_path: Path, master: str, here: int
) -> None:
    """It may be any folder, and hold anything."""
    handler = settings("--message.handler", "h.Ok", "--spark.master", master, class_path=f":{tmp_path}/a.jar").handler
    assert handler is not None
    assert handler.class_path == (*here * [str(tmp_path)], f"{tmp_path}/a.jar")


def test_a_star_means_the_jars_of_a_folder(settings: Settle, tmp_path: Path) -> None:
    for name in ("b.jar", "a.JAR", "c.txt"):
        (tmp_path / name).touch()
    handler = settings("--message.handler", "h.Ok", "--handler.classpath", f"{tmp_path}/*:{tmp_path}").handler
    assert handler is not None
    assert handler.class_path == (f"{tmp_path}/a.JAR", f"{tmp_path}/b.jar", str(tmp_path))


def test_two_ways_to_handle_are_refused(settings: Settle) -> None:
    with pytest.raises(ConfigurationError, match="exclude each other"):
        settings("--message.handler", "h.Ok", "--handler.step", "keep.partition")


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (
            ("--rename.topics", "true", "--target.cluster.alias", "b"),
            "DefaultReplicationPolicy and a message handler exclude each other",
        ),
        (
            ("--detect.loops", "true", "--target.cluster.alias", "b"),
            "--message.handler and detect.loops exclude each other",
        ),
    ],
)
def test_flags_that_a_handler_excludes(settings: Settle, flags: tuple[str, ...], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        settings("--message.handler", "h.Ok", "--source.cluster.alias", "a", *flags)


def test_loops_are_detected_by_a_step(settings: Settle) -> None:
    aliases = ("--source.cluster.alias", "a", "--target.cluster.alias", "b")
    handler = settings("--handler.step", "keep.partition", "--detect.loops", "true", *aliases).handler
    assert handler is not None
    assert handler.steps == ("keep.partition", "loop.guard=a>b")


def test_the_class_path_of_the_environment_comes_first(settings: Settle) -> None:
    handler = settings("--message.handler", "h.Ok", "--handler.classpath", "/y.jar", class_path="/x.jar").handler
    assert handler is not None
    assert handler.class_path == ("/x.jar", "/y.jar")


@pytest.mark.parametrize("variable", ["KAFKA_HOME", "LEGACY_MM_KAFKA_HOME"])
@pytest.mark.parametrize(
    ("folder", "release", "counts"),
    [
        ("libs", "2.13-3.9.1", True),
        ("libs", "2.10-0.8.2.2", True),
        ("libs", "2.13-4.1.0", False),
        ("share/java/kafka", "2.13-7.6.0-ccs", True),
        ("share/java/kafka", "2.13-8.0.0-ccs", False),
    ],
)
def test_jars_of_the_old_kafka_count(
    settings: Settle, tmp_path: Path, variable: str, folder: str, release: str, counts: bool
) -> None:
    """Apache's and Confluent's, whose release 8 is Kafka 4."""
    libs = tmp_path / "kafka" / folder
    libs.mkdir(parents=True)
    for name in (f"kafka_{release}.jar", "handlers.jar"):
        (libs / name).touch()
    made = settings("--message.handler", "h.Ok", variables={variable: str(tmp_path / "kafka")})
    assert made.handler is not None
    assert (str(libs / "handlers.jar") in made.handler.class_path) is counts


def test_what_is_set_aside_and_where(settings: Settle, tmp_path: Path) -> None:
    """With and without a handler; nothing is by default."""
    asked = settings().quarantine
    assert (asked.failed, asked.refused, asked.topic) == (False, False, None)
    assert asked.file == str(tmp_path / "legacy-mm-quarantine.jsonl")
    asked = settings("--send.on.error", "quarantine", "--quarantine.topic", "q", "--quarantine.file", "f").quarantine
    assert (asked.failed, asked.refused, asked.topic, asked.file) == (False, True, "q", str(tmp_path / "f"))
    assert settings("--handler.on.error", "quarantine").quarantine.failed


SEND, HANDLER, TOPIC = "--send.on.error=quarantine", "--handler.on.error=quarantine", "--quarantine.topic=aside"


@pytest.mark.parametrize("words", [(SEND,), (SEND, TOPIC), (HANDLER,), (SEND, HANDLER, TOPIC)])
def test_no_quarantine_file_on_a_worker(settings: Settle, words: tuple[str, ...]) -> None:
    """It would count as safe, and nobody could find it."""
    for here in ((), ("--spark.master", "local[8]")):
        assert settings(*words, *here).quarantine.needs_file
    with pytest.raises(ConfigurationError, match=r"on\.error quarantine is not possible with --spark\.master spark://"):
        settings(*words, "--spark.master", "spark://h:1")


def test_a_quarantine_topic_for_a_handler_needs_no_file(settings: Settle) -> None:
    made = settings(HANDLER, TOPIC, "--spark.master", "spark://h:1").quarantine
    assert (made.failed, made.topic, made.needs_file) == (True, "aside", False)
