"""Options of ours beside a file of MirrorMaker 2: what they are for its flows, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.cli.parser import read_own_options
from legacy_mm.features.exactly_once.feature import EXACTLY_ONCE
from legacy_mm.features.quotas.feature import QUOTAS
from legacy_mm.features.start_from.feature import START_FROM
from legacy_mm.words.legacy_tool.client_translation import ClientTranslation
from legacy_mm.words.legacy_tool.environment import Environment
from legacy_mm.words.mirror_maker_2 import connect_files, connect_line, driver, driver_line
from legacy_mm.words.mirror_maker_2.driver import DriverRun
from legacy_mm.words.mirror_maker_2.flow_translation import FlowRun

NOVEMBER, JUNE = 1_793_491_200_000, 1_780_272_000_000
FILE = "clusters=A,B,C\nA.bootstrap.servers=a:1\nB.bootstrap.servers=b:1\nC.bootstrap.servers=c:1\nA->B.enabled=true\n"
WORKER = "bootstrap.servers=b:1\ngroup.id=w\noffset.storage.topic=o\nconfig.storage.topic=c\nstatus.storage.topic=s\n"
CONNECTOR = (
    "connector.class=MirrorSourceConnector\nsource.cluster.alias={0}\ntarget.cluster.alias=B\n"
    "source.cluster.bootstrap.servers={0}:1\ntarget.cluster.bootstrap.servers=b:1\nname={0}\n"
)


def run_driver(folder: Path, text: str, *words: str, **variables: str) -> DriverRun:
    (folder / "mm2").write_text(text)
    line = driver_line.parse([str(folder / "mm2"), *words])
    return driver.translate_driver(driver.load(line), clients(line.own_words, variables))


def run_worker(folder: Path, worker: str, connectors: Mapping[str, str], *words: str) -> DriverRun:
    (folder / "worker").write_text(worker)
    for name, lines in connectors.items():
        (folder / name).write_text(CONNECTOR.format(name) + lines)
    line = connect_line.parse([str(folder / "worker"), *(str(folder / name) for name in connectors), *words])
    return driver.translate_connect(connect_files.load(line), clients(line.own_words, {}))


def clients(words: tuple[str, ...], variables: Mapping[str, str]) -> ClientTranslation:
    return ClientTranslation(Environment(), read_own_options(words, variables))


def copying(run: DriverRun) -> list[FlowRun]:
    return [each for each in run.flows if each.settings.streams]


def exactly_once(run: DriverRun) -> dict[str, bool]:
    return {str(each.pair): each.settings.features[EXACTLY_ONCE] is not None for each in copying(run)}


def starts(run: DriverRun) -> dict[str, tuple[int | None, Mapping[str, int]] | None]:
    found = {str(each.pair): each.settings.features[START_FROM] for each in copying(run)}
    return {pair: None if times is None else (times.every, times.topics) for pair, times in found.items()}


def test_an_option_is_for_all_flows_and_a_flow_s_own_line_counts_before_it(tmp_path: Path) -> None:
    text = f"{FILE}C->B.enabled=true\nexactly.once=false\nC->B.exactly.once=false\n"
    run = run_driver(tmp_path, text, "--exactly.once", "true")
    assert exactly_once(run) == {"A->B": True, "C->B": False}
    assert exactly_once(run_driver(tmp_path, text, LEGACY_MM_EXACTLY_ONCE="true")) == {"A->B": True, "C->B": False}
    flags = tmp_path / "flags"
    flags.write_text("exactly.once=true\nstart.from.topic.orders=2026-06-01T00:00Z\n")
    run = run_driver(tmp_path, text, "--features.config", str(flags), "--start.from", "2026-11-01T00:00Z")
    assert exactly_once(run) == {"A->B": True, "C->B": False}
    assert starts(run)["A->B"] == (NOVEMBER, {"orders": JUNE})


def test_the_remark_about_exactly_once_knows_the_option(tmp_path: Path) -> None:
    asked = f"{FILE}B.exactly.once.source.support=enabled\n"
    said = [each.text for each in run_driver(tmp_path, asked).notes]
    assert any("at least once here" in each for each in said)
    said = [each.text for each in run_driver(tmp_path, asked, "--exactly.once", "true").notes]
    assert not any("at least once here" in each for each in said)


def test_connectors_and_their_worker_have_such_lines(tmp_path: Path) -> None:
    """A source connector's own counts before the option, and that before the worker's."""
    connectors = {"A": "start.from=2026-11-01T00:00Z\nstart.from.topic.orders=2026-06-01T00:00Z\n", "C": ""}
    worker = f"{WORKER}start.from=2026-06-01T00:00Z\nsync.quotas.enabled=true\n"
    run = run_worker(tmp_path, worker, connectors)
    assert starts(run) == {"A->B": (NOVEMBER, {"orders": JUNE}), "C->B": (JUNE, {})}
    assert all(each.settings.features[QUOTAS] is not None for each in run.flows)
    assert run.files is not None
    assert [each.unknown for each in run.files.connectors] == [(), ()]
    run = run_worker(tmp_path, worker, connectors, "--start.from", "2026-11-01T00:00Z", "--exactly.once", "true")
    assert starts(run) == {"A->B": (NOVEMBER, {"orders": JUNE}), "C->B": (NOVEMBER, {})}
    assert exactly_once(run) == {"A->B": True, "C->B": True}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--topics.exclude", "x"), "topics.exclude has no effect beside a file of MirrorMaker 2"),
        (("--sync.topic.acls.enabled", "false"), "sync.topic.acls.enabled has no effect beside"),
        (("--handler.step", "drop headers"), "handler.step has no effect beside"),
        (("--quarantine.topic", "q"), "transforms and errors.tolerance of the file say what becomes of records"),
        (("--send.on.error", "quarantine"), "send.on.error has no effect"),
    ],
)
def test_what_only_the_file_can_say_is_refused(words: tuple[str, str], said: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=said.replace(".", "[.]")):
        run_driver(tmp_path, FILE, *words)
    with pytest.raises(ConfigurationError, match=said.replace(".", "[.]")):
        run_worker(tmp_path, WORKER, {"A": ""}, *words)
