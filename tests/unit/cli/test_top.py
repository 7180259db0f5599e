"""`legacy-mm top`: the connectors, and what `/metrics` says of their flows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from legacy_mm.cli import top
from legacy_mm.cli.admin_calls import AdminPort
from legacy_mm.cli.legacy_mm import main
from legacy_mm.connect.entities import TargetState
from tests.fixtures.rest_api import RestApi, serving

SOURCE, HEARTBEAT = "A->B.MirrorSourceConnector", "A->B.MirrorHeartbeatConnector"
NUMBERS = """\
# HELP legacy_mm_records_copied_total records sent to the target
legacy_mm_records_copied_total{{flow="A->B",stream="0"}} {first}
legacy_mm_records_copied_total{{flow="A->B",stream="1"}} 500.0
legacy_mm_records_copied_total{{flow="B->A"}} 7.0
legacy_mm_consumer_partition_records_lag{{client_id="a, flow=x",flow="A->B",partition="0"}} 1200.0
legacy_mm_consumer_partition_records_lag{{flow="A->B",partition="1"}} NaN
legacy_mm_process_up 1.0
"""


@pytest.fixture
def api() -> Iterator[RestApi]:
    with serving() as found:
        for name in (SOURCE, HEARTBEAT):
            found.herder.add(name)
        heartbeat = found.herder.configs[SOURCE]["connector.class"].replace("Source", "Heartbeat")
        found.herder.configs[HEARTBEAT] = {"name": HEARTBEAT, "connector.class": heartbeat}
        yield found


def cells(out: str) -> list[list[str]]:
    return [line.split() for line in out.splitlines()]


def test_one_look(api: RestApi, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    ask = AdminPort.text

    def text(port: AdminPort, method: str, path: str, body: object = None) -> str:
        return NUMBERS.format(first="1000.0") if path == "/metrics" else ask(port, method, path, body)

    monkeypatch.setattr(AdminPort, "text", text)
    api.herder.states[HEARTBEAT] = TargetState.STOPPED
    assert main(["top", "--once", "--url", f"http://127.0.0.1:{api.port}"]) == 0
    assert cells(capsys.readouterr().out) == [
        [f"http://127.0.0.1:{api.port}:", "1", "of", "2", "connectors", "run"],
        ["FLOW", "CONNECTOR", "STATE", "TASKS", "COPIED", "PER", "SECOND", "LAG", "REASON"],
        ["A->B", SOURCE, "RUNNING", "2/2", "1,500", "1,200"],
        ["A->B", HEARTBEAT, "STOPPED", "0/0"],
    ]


def test_the_real_text_of_a_port_without_flows_is_read(api: RestApi, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["top", "--once", "--url", f"http://127.0.0.1:{api.port}"]) == 0
    assert cells(capsys.readouterr().out)[2] == ["A->B", SOURCE, "RUNNING", "2/2"]


def test_the_second_look_has_a_rate_and_a_terminal_one_screen(
    api: RestApi, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ask, counts, times = AdminPort.text, iter(["1000.0", "1600.0", "100.0"]), iter([10.0, 12.0, 13.0])

    def text(port: AdminPort, method: str, path: str, body: object = None) -> str:
        return NUMBERS.format(first=next(counts)) if path == "/metrics" else ask(port, method, path, body)

    looks: list[float] = []

    def pause(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(AdminPort, "text", text)
    monkeypatch.setattr(top, "monotonic", lambda: next(times))
    monkeypatch.setattr(top, "sleep", pause)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert main(["top", "--url", f"http://127.0.0.1:{api.port}"]) == 0
    screens = capsys.readouterr().out.split("\x1b[H\x1b[J")[1:]
    assert [cells(each)[2][4:] for each in screens] == [
        ["1,500", "1,200"],
        ["2,100", "300", "1,200"],
        ["600", "0", "1,200"],
    ]
    assert looks == [1.0] * 3


def test_a_port_that_is_away_ends_a_file_and_not_a_screen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(top, "sleep", stop)
    with serving() as api:
        words = ["top", "--url", f"http://127.0.0.1:{api.port}"]
    assert main(words) == 1
    assert "nothing listens at" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert main(words) == 0
    assert "nothing listens at" in capsys.readouterr().out
