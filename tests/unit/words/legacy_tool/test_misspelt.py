"""Names that nobody reads, and MirrorMaker 2's own file, wherever they are given: what the real command says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.cli.mirror_maker import run
from legacy_mm.words.java_clients.client_properties.apply import RULES
from legacy_mm.words.java_clients.properties_file import PropertiesFile
from legacy_mm.words.legacy_tool import misspelt
from legacy_mm.words.legacy_tool.mirror_maker_2_file import named_in
from legacy_mm.words.legacy_tool.releases import CURRENT, ERAS
from legacy_mm.words.legacy_tool.translate import MirrorRun

CONSUMER = "bootstrap.servers=127.0.0.1:1\ngroup.id=g\n"
PRODUCER = "bootstrap.servers=127.0.0.1:2\n"
FILES = ("--consumer.config", "c", "--producer.config", "p")
LINE = (*FILES, "--whitelist", "t")
Tool = Callable[..., tuple[int, str]]
DEPLOYMENTS = Path(__file__).parents[4] / "compat" / "recorded" / "facts" / "deployments.json"


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Tool:
    """The command up to the mirror itself; exit code, and what it says at the default level."""
    monkeypatch.chdir(tmp_path)

    def started(outcome: MirrorRun, signals: Any) -> int:
        return 7

    def made(*words: str, consumer: str = CONSUMER, producer: str = PRODUCER) -> tuple[int, str]:
        (tmp_path / "c").write_text(consumer)
        (tmp_path / "p").write_text(producer)
        code = run(words, mirror=started)
        told = capfd.readouterr()
        return code, told.out + told.err

    return made


@pytest.mark.parametrize("side", ["consumer", "producer"])
@pytest.mark.parametrize(
    ("key", "probably"),
    [
        ("sync.topics.configs.enabled", "sync.topic.configs.enabled"),
        ("topic.blacklist", "topics.blacklist"),
        ("emit.heartbeats.interval.second", "emit.heartbeats.interval.seconds"),
    ],
)
def test_in_a_clients_file(tool: Tool, side: str, key: str, probably: str) -> None:
    """The line runs as with the legacy tool, and a WARN line says where the slip is."""
    files = {"consumer": CONSUMER, "producer": PRODUCER}
    files[side] += f"\n{key}=x\n"
    code, said = tool(*LINE, **files)
    assert code == 7
    line = files[side].count("\n") - 0
    assert f"WARN {side[0]}:{line}: {key} has no effect: {probably} was probably meant. (legacy_mm)" in said


def test_options_in_a_clients_file(tool: Tool) -> None:
    code, said = tool(*LINE, consumer=f"{CONSUMER}num.streams=4\n", producer=f"{PRODUCER}metrics.port=1\n")
    assert code == 7
    assert "c:3: num.streams has no effect in a client's file: it is an option of the command line." in said
    assert "p:2: metrics.port has no effect in a client's file: it is an option of the command line or --feat" in said


def test_in_a_variable(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEGACY_MM_TOPIC_CREATON", "true")
    monkeypatch.setenv("LEGACY_MM_MINE", "x")
    monkeypatch.setenv("LEGACY_MM_LOG_LEVEL", "WARN")
    code, said = tool(*LINE)
    assert code == 7
    assert "The variable LEGACY_MM_TOPIC_CREATON has no effect: LEGACY_MM_TOPIC_CREATION was probably meant." in said
    assert "LEGACY_MM_MINE" not in said


@pytest.mark.parametrize(
    ("option", "probably"),
    [
        ("sync.topics.configs.enabled", "sync.topic.configs.enabled"),
        ("whitelst", "whitelist"),
        ("producer-config", "producer.config"),
        ("num-streams", "num.streams"),
        ("consumer.rebalance.listener.args", "rebalance.listener.args"),
        ("topic.blacklist", "topics.blacklist"),
        ("log.levels", "log.level"),
    ],
)
def test_in_an_option(tool: Tool, option: str, probably: str) -> None:
    """The legacy tool's words and exit code, and a line more."""
    code, said = tool(*LINE, f"--{option}", "x")
    assert code == 1
    assert f"joptsimple.UnrecognizedOptionException: {option} is not a recognized option" in said
    if option != "consumer.rebalance.listener.args":
        assert f"--{option} is no option: --{probably} was probably meant." in said


@pytest.mark.parametrize("by", ["option", "variable"])
@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("topic.blacklist", "topic.blacklist is not an option of legacy-mm: topics.blacklist was probably meant"),
        ("exclude.topics", "exclude.topics is not an option of legacy-mm: topics.exclude was probably meant"),
        ("preserve.partition", "preserve.partition is not an option of legacy-mm: preserve.partitions was probably"),
        ("num.streams", "num.streams is an option of the legacy tool, which belongs on the command line: --num"),
        ("my.own", "my.own is not an option of legacy-mm"),
    ],
)
def test_in_a_file_of_options(tool: Tool, key: str, told: str, by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an error there: what was to keep data back would copy it."""
    Path("f").write_text(f"# mine\n{key}=x\n")
    if by == "variable":
        monkeypatch.setenv("LEGACY_MM_FEATURES_CONFIG", "f")
    code, said = tool(*LINE, *(("--features.config", "f") if by == "option" else ()))
    assert code == 1
    assert f"f, line 2: {told}" in said


def test_no_key_of_other_people_is_taken_for_a_slip() -> None:
    """Those of every client, old and new, and all of the real deployments but two that are slips."""
    rows: list[dict[str, Any]] = json.loads(DEPLOYMENTS.read_text())
    sides = [row[f"{side}_properties"] for row in rows for side in ("consumer", "producer")]
    names = {name for side in sides for name in side} | {rule.name for rules in RULES.values() for rule in rules}
    assert len(names) > 100
    told = {
        line.partition(": ")[2].partition(" ")[0]
        for grammar in (ERAS[0], CURRENT)
        for line in misspelt.in_file(PropertiesFile("f", dict.fromkeys(names, "x"), dict.fromkeys(names, 1)), grammar)
    }
    assert told <= {"exclude.topics", "offset.commit.interval.ms"}
    assert not [line for row in rows for line in misspelt.in_variables(row["env"])]


DEDICATED = "\n# flows\nclusters = A, B\nA.bootstrap.servers = a:1\nB.bootstrap.servers = b:1\nA->B.enabled = true\n"
CONNECTOR = "name=x\nconnector.class=org.apache.kafka.connect.mirror.MirrorSourceConnector\n"
CONNECTOR_JSON = """{
  "name": "x",
  "config": {
    "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
    "source.cluster.bootstrap.servers": "a:1"
  }
}
"""
RESOURCE = "apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaMirrorMaker2\nspec:\n  clusters:\n  - alias: a\n"
WAYS = {
    "the consumer's file": ("--consumer.config", "mm2", "--producer.config", "p", "--whitelist", "t"),
    "the producer's file": ("--consumer.config", "c", "--producer.config", "mm2", "--whitelist", "t"),
    "both": ("--consumer.config=mm2", "--producer.config=mm2", "--whitelist", "t"),
    "options": (*LINE, "--features.config", "mm2"),
    "options, by a variable": LINE,
    "its own command line": ("mm2",),
    "with clusters": ("mm2", "--clusters", "B"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("text", "sign", "what"),
    [
        (DEDICATED, "line 3: clusters", "a file of MirrorMaker 2"),
        ("A->B.topics=x\n", "line 1: A->B.topics", "a file of MirrorMaker 2"),
        ("topics=x\nus-east.bootstrap.servers=a:1\n", "line 2: us-east.bootstrap.servers", "a file of MirrorMaker 2"),
        (CONNECTOR, "line 2: connector.class", "a connector of MirrorMaker 2"),
        (CONNECTOR_JSON, "line 4: connector.class", "a connector of MirrorMaker 2"),
        (RESOURCE, "line 2: kind", "a resource of Strimzi for MirrorMaker 2"),
    ],
)
def test_mirror_maker_2s_own_file(
    tool: Tool, way: str, text: str, sign: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line says where it belongs, whichever way it came; the exit code is what it was."""
    Path("mm2").write_text(text)
    if "variable" in way:
        monkeypatch.setenv("LEGACY_MM_FEATURES_CONFIG", "mm2")
    code, said = tool(*WAYS[way])
    assert code == 1
    told = f"mm2 is {what} ({sign}): this command copies from one source to one target"
    assert said.count(told) == 1
    assert ("legacy-mm connect" if "connector" in what else "connect-mirror-maker.sh") in said
    assert "docs/how-to/dedicated.md" in said


def test_a_clients_file_with_a_line_of_mirror_maker_2_runs(tool: Tool) -> None:
    code, said = tool(*LINE, producer=f"{PRODUCER}A->B.enabled=true\n")
    assert code == 7
    assert "WARN p is a file of MirrorMaker 2 (line 2: A->B.enabled)" in said


@pytest.mark.parametrize(
    "text", [CONSUMER, "consumer.bootstrap.servers=a:1\n", "source.admin.bootstrap.servers=x:1\n", "x=\\u00\n"]
)
def test_other_files_are_not_taken_for_one(tmp_path: Path, text: str) -> None:
    (tmp_path / "f").write_text(text)
    assert list(named_in([str(tmp_path / "f"), f"--x={tmp_path / 'f'}", str(tmp_path), "gone", "--", ""])) == []
