"""`legacy-mm ctl` before the real server of the admin port, with connectors in memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

import pytest

from legacy_mm.cli import ctl
from legacy_mm.cli.legacy_mm import main
from legacy_mm.connect.entities import ConnectorStatus, ConnectRestError, Reported, ReportedState, TargetState
from tests.fakes.herder import SOURCE as SOURCE_CLASS
from tests.fakes.herder import WORKER
from tests.fixtures.rest_api import TOKEN, RestApi, serving

SOURCE, HEARTBEAT = "A->B.MirrorSourceConnector", "A->B.MirrorHeartbeatConnector"
FAILED = Reported(ReportedState.FAILED, WORKER, "no broker answers\n\tat org.apache")


class Port:
    """An admin port with a flow A->B, and whoever gives it orders."""

    def __init__(self, api: RestApi, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.api = api
        self._capsys = capsys
        self.token = folder / "token"
        self.token.touch(0o600)
        self.token.write_text(f"{TOKEN}\n")
        for name, class_name in ((SOURCE, SOURCE_CLASS), (HEARTBEAT, SOURCE_CLASS.replace("Source", "Heartbeat"))):
            api.herder.add(name)
            aliases = {"source.cluster.alias": "A", "target.cluster.alias": "B"}
            api.herder.configs[name] = {"name": name, "connector.class": class_name, **aliases}

    def ctl(self, *words: str, token: bool = True) -> tuple[int, str, str]:
        """Run the command; return its exit code, and what it prints."""
        login = ("--token.file", str(self.token)) if token else ()
        code = main(["ctl", words[0], "--url", f"http://127.0.0.1:{self.api.port}", *login, *words[1:]])
        out, err = self._capsys.readouterr()
        return code, out, err


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestApi]:
    token = tmp_path_factory.mktemp("ctl") / "token"
    token.touch(0o600)
    token.write_text(TOKEN)
    with serving(token_file=str(token), actions=True) as found:
        yield found


@pytest.fixture
def port(api: RestApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Port:
    api.herder.begin_anew()
    return Port(api, tmp_path, capsys)


def test_the_status_is_a_table_or_a_document(port: Port) -> None:
    code, out, _ = port.ctl("status")
    assert code == 0
    assert [line.split() for line in out.splitlines()] == [
        ["FLOW", "CONNECTOR", "STATE", "TASKS", "REASON"],
        ["A->B", SOURCE, "RUNNING", "2/2"],
        ["A->B", HEARTBEAT, "RUNNING", "2/2"],
    ]
    code, out, _ = port.ctl("status", "--json", "A->B")
    running = {"state": "RUNNING", "tasks_running": 2, "tasks": 2, "reason": ""}
    assert (code, json.loads(out)) == (0, [{"flow": "A->B", "connector": SOURCE, **running}])


def test_what_failed_or_does_not_run_has_code_1_and_its_reason(port: Port, monkeypatch: pytest.MonkeyPatch) -> None:
    port.api.herder.states[HEARTBEAT] = TargetState.STOPPED
    assert port.ctl("status")[0] == 1
    assert port.ctl("status", SOURCE)[0] == 0
    running = Reported(ReportedState.RUNNING, WORKER)
    status = ConnectorStatus(SOURCE, running, [running, FAILED])
    monkeypatch.setattr(port.api.herder, "connector_status", lambda name: status)
    code, out, _ = port.ctl("status", SOURCE)
    assert (code, out.splitlines()[1].split(maxsplit=4)[3:]) == (1, ["1/2", "no broker answers"])


@pytest.mark.parametrize(
    ("order", "state"), [("pause", TargetState.PAUSED), ("stop", TargetState.STOPPED), ("resume", TargetState.STARTED)]
)
def test_a_flow_is_its_source_connector_and_all_are_all(port: Port, order: str, state: TargetState) -> None:
    first = TargetState.PAUSED if order == "resume" else TargetState.STARTED
    port.api.herder.states.update({SOURCE: first, HEARTBEAT: first})
    code, out, _ = port.ctl(order, "A->B")
    done = {"pause": "paused", "stop": "stopped", "resume": "running"}[order]
    assert (code, out) == (0, f"{SOURCE}: {done}\n")
    assert port.api.herder.states == {SOURCE: state, HEARTBEAT: first}
    assert port.ctl(order, "--all")[1] == f"{SOURCE}: {done}\n{HEARTBEAT}: {done}\n"
    assert port.api.herder.states == {SOURCE: state, HEARTBEAT: state}


def test_a_restart_is_one_with_its_tasks(port: Port) -> None:
    assert port.ctl("restart", SOURCE)[:2] == (0, f"{SOURCE}: restarted\n")
    assert port.api.herder.calls == [("restart", SOURCE, True, False)]


def test_it_waits_for_the_state_and_says_where_it_stays(port: Port, monkeypatch: pytest.MonkeyPatch) -> None:
    told = [FAILED, Reported(ReportedState.UNASSIGNED, WORKER), Reported(ReportedState.RUNNING, WORKER)]
    looks = iter([*told, *[FAILED] * 1000])
    monkeypatch.setattr(port.api.herder, "connectors", lambda: [SOURCE])

    def status(name: str) -> ConnectorStatus:
        found = next(looks)
        return ConnectorStatus(name, found, [found])

    monkeypatch.setattr(ctl, "_LOOK_AGAIN", 0.0)
    monkeypatch.setattr(port.api.herder, "connector_status", status)
    assert port.ctl("resume", SOURCE)[:2] == (0, f"{SOURCE}: running\n"), "the third look finds it running"
    code, out, _ = port.ctl("resume", SOURCE, "--timeout", "0")
    assert (code, out) == (1, f"{SOURCE}: it is FAILED with 0 of 1 tasks running: no broker answers\n")


def test_a_mirror_that_is_busy_is_asked_again(port: Port, monkeypatch: pytest.MonkeyPatch) -> None:
    herder = port.api.herder
    change, busy = herder.set_target_state, [True]

    def refuse_once(name: str, state: TargetState) -> None:
        if busy:
            busy.pop()
            raise ConnectRestError(HTTPStatus.CONFLICT, "a conflicting operation")
        change(name, state)

    monkeypatch.setattr(ctl, "_LOOK_AGAIN", 0.0)
    monkeypatch.setattr(herder, "set_target_state", refuse_once)
    assert port.ctl("pause", SOURCE)[:2] == (0, f"{SOURCE}: paused\n")
    busy.append(True)
    code, out, _ = port.ctl("resume", SOURCE, "--timeout", "0")
    assert (code, out.endswith(": a conflicting operation\n")) == (1, True)


def test_another_refusal_is_final_and_holds_up_no_other(port: Port, monkeypatch: pytest.MonkeyPatch) -> None:
    herder, asked = port.api.herder, []

    def refuse(name: str, state: TargetState) -> None:
        asked.append(name)
        raise ConnectRestError(HTTPStatus.BAD_REQUEST, f"{name} has no topic")

    monkeypatch.setattr(ctl, "_LOOK_AGAIN", 0.0)
    monkeypatch.setattr(herder, "set_target_state", refuse)
    code, out, _ = port.ctl("pause", "--all", "--timeout", "1")
    assert (code, asked) == (1, [SOURCE, HEARTBEAT])
    assert [line.split(": ")[0] for line in out.splitlines()] == asked


def test_set_prints_what_changed(port: Port, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, _ = port.ctl("set", "A->B", "topics=orders,a=b", "tasks.max=2")
    assert (code, out) == (0, "topics: none -> orders,a=b\ntasks.max: none -> 2\n")
    assert port.api.herder.configs[SOURCE]["topics"] == "orders,a=b"
    assert port.ctl("set", "A->B", "topics=")[1] == "topics: orders,a=b -> \n"
    assert port.ctl("set", "A->B", "topics=")[1] == f"{SOURCE}: nothing changed\n"
    port.api.herder.configs[SOURCE] = {**port.api.herder.configs[SOURCE], "source.cluster.ssl.key.password": "[hidden]"}
    said = port.ctl("set", "A->B", "source.cluster.ssl.key.password=[hidden]")[1]
    assert said == "source.cluster.ssl.key.password: set; its value is not shown\n"
    code, _, err = port.ctl("set", "A->B", "bad=1")
    assert (code, "Invalid value for configuration bad" in err) == (1, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["go"], "go is not possible: possible are status, pause, resume, stop, restart, set"),
        (["reboot"], "reboot is not possible"),
        (["reload", "A->B"], "reload takes no NAME"),
        (["reload", "--all"], "reload takes no NAME"),
        (["pause", "A->B", "--dry-run"], "--dry-run is one of reload"),
        (["pause"], "pause needs a NAME, or --all"),
        (["pause", "--all", "A->B"], "pause needs a NAME, or --all"),
        (["set", "A->B"], "set needs a NAME and at least one KEY=VALUE"),
        (["set", "A->B", "topics"], "topics is no KEY=VALUE"),
        (["status", "--tokn.file=x"], "--token.file was probably meant"),
        (["status", "--url=nowhere"], "--url nowhere is no address of an admin port"),
    ],
)
def test_wrong_words_have_code_2(port: Port, words: list[str], said: str) -> None:
    code, out, err = port.ctl(*words)
    assert (code, out, said in err) == (2, "", True), err


def test_a_name_that_is_not_there_is_told_with_those_that_are(port: Port) -> None:
    said = f"legacy-mm: there is no C: there are A->B, {SOURCE}, {HEARTBEAT}\n"
    assert port.ctl("pause", "C") == (1, "", said)


def test_a_flow_of_two_connectors_is_no_name(port: Port) -> None:
    port.api.herder.configs["mine"] = {**port.api.herder.configs[SOURCE], "name": "mine"}
    port.api.herder.states["mine"] = TargetState.STARTED
    assert port.ctl("pause", "mine")[:2] == (0, "mine: paused\n")
    said = f"legacy-mm: several connectors copy A->B: name one of {SOURCE}, mine\n"
    assert port.ctl("pause", "A->B") == (1, "", said)


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ctl", "--help"]) == 0
    assert "restart NAME ...           begin again at what is safe" in capsys.readouterr().out
