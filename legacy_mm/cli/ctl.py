"""`legacy-mm ctl`: the state of a mirror that runs, and orders to it, through its admin port."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any, NamedTuple, NoReturn

from legacy_mm.base.clock import Deadline, sleep
from legacy_mm.base.errors import HostError
from legacy_mm.base.redaction import HIDDEN
from legacy_mm.cli.admin_calls import AdminPort, ConnectorState, RefusedCall, add_port_options
from legacy_mm.cli.command import CommandBody, CommandCall, CommandParser
from legacy_mm.cli.exit_code import ExitCode
from legacy_mm.cli.output import columns, print_json, print_lines
from legacy_mm.cli.reload_text import reload_lines
from legacy_mm.connect.entities import ReportedState
from legacy_mm.connect.reload_plan import DRY_RUN, RELOAD, change_text

_STATUS, _SET, _RELOAD = "status", "set", "reload"
_LOOK_AGAIN = 0.2
"""Seconds between two looks at a connector that is on its way to a state."""
_WRONG_WORDS = 2
_DESCRIPTION = """\
The state of a mirror that runs, and orders to it, through its --admin.port.

  status [NAME ...]          the connectors, and what they do
  pause NAME ...             end the copying, and keep the partitions
  resume NAME ...            go on where it stopped
  stop NAME ...              end the copying, and leave the group
  restart NAME ...           begin again at what is safe
  set NAME KEY=VALUE ...     change a configuration
  reload                     read the files of the start again, and do what they say now; --dry-run: say what changes

NAME is a connector, or a flow such as A->B: its source connector then.
Exit code: 0 all run, or did what was asked; 1 something failed, does not run, or gives no answer; 2 wrong words.
"""


class _Order(NamedTuple):
    method: str
    path: str
    reached: Callable[[ConnectorState], bool]
    done: str


def _is(state: ReportedState) -> Callable[[ConnectorState], bool]:
    return lambda connector: connector.state == state.value


def _is_over_its_restart(connector: ConnectorState) -> bool:
    """Return True where it runs, or stays as it was told to be: a restart resumes nothing."""
    return connector.all_runs or connector.state in (ReportedState.PAUSED.value, ReportedState.STOPPED.value)


_ORDERS: Mapping[str, _Order] = {
    "pause": _Order("PUT", "/pause", _is(ReportedState.PAUSED), "paused"),
    "resume": _Order("PUT", "/resume", lambda connector: connector.all_runs, "running"),
    "stop": _Order("PUT", "/stop", _is(ReportedState.STOPPED), "stopped"),
    "restart": _Order("POST", "/restart?includeTasks=true", _is_over_its_restart, "restarted"),
}
_WORDS = (_STATUS, *_ORDERS, _SET, _RELOAD)


def _parser() -> CommandParser:
    parser = CommandParser(
        prog="legacy-mm ctl",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
        allow_abbrev=False,
    )
    parser.usage = f"legacy-mm ctl {'|'.join(_WORDS)} [NAME ...] [OPTIONS]"
    parser.add_argument("-h", "--help", action="store_true", help="show this help")
    parser.add_argument("words", nargs="*", metavar="WORD", help="what to do, and names of flows or connectors")
    parser.add_argument("--all", action="store_true", help="all connectors instead of names")
    parser.add_argument("--json", action="store_true", help="the status, or what a reload changes, as a JSON document")
    parser.add_argument("--dry-run", action="store_true", help="say what a reload would change, and change nothing")
    parser.add_argument(
        "--timeout", type=float, default=60.0, metavar="SECONDS", help="how long to wait for a state; default: 60"
    )
    add_port_options(parser)
    return parser


def _run(call: CommandCall) -> int:
    """Do what the words say; return the exit code."""
    parser = _parser()
    options = parser.parse_intermixed_args(call.options.words)  # names may stand behind options
    if options.help:
        print_lines(parser.format_help().splitlines())
        return ExitCode.DONE
    action, *names = options.words or [""]
    if action not in _WORDS:
        parser.error(f"{action or 'no word'} is not possible: possible are {', '.join(_WORDS)}")
    if options.dry_run and action != _RELOAD:
        parser.error("--dry-run is one of reload")
    if action == _RELOAD and (names or options.all):
        parser.error("reload takes no NAME: it is for all flows of the process")
    changes = _changes(names[1:], parser.error) if action == _SET else {}
    if action == _SET and not changes:
        parser.error("set needs a NAME and at least one KEY=VALUE")
    if action in _ORDERS and bool(names) is options.all:
        parser.error(f"{action} needs a NAME, or --all")
    port = AdminPort(options.url, options.token_file, options.ca)
    if action == _RELOAD:
        return _reload(port, options.timeout, dry_run=options.dry_run, as_json=options.json)
    there = port.connectors()
    if action == _SET:
        (meant,) = _meant(there, names[:1])
        return _set(port, meant.name, changes)
    meant_ones = _meant(there, names) if names else there
    if action == _STATUS:
        return _tell(meant_ones, as_json=options.json)
    return _order(port, _ORDERS[action], meant_ones, options.timeout)


def _meant(there: Sequence[ConnectorState], names: Sequence[str]) -> list[ConnectorState]:
    """Return the connectors of these names, each once; raises HostError for a name that is not there."""
    found: dict[str, ConnectorState] = {}
    for name in names:
        of_name = [each for each in there if each.name == name]
        of_flow = of_name or [each for each in there if each.is_source and each.flow == name]
        if not of_flow:
            choices = dict.fromkeys([*(each.flow for each in there if each.is_source), *(each.name for each in there)])
            raise HostError(f"there is no {name}: there are {', '.join(filter(None, choices)) or 'no connectors'}")
        if len(of_flow) > 1:
            raise HostError(f"several connectors copy {name}: name one of {', '.join(each.name for each in of_flow)}")
        found[of_flow[0].name] = of_flow[0]
    return list(found.values())


def _tell(connectors: Sequence[ConnectorState], *, as_json: bool) -> int:
    if as_json:
        print_json([_document(each) for each in connectors])
    elif connectors:
        print_lines(columns(("FLOW", "CONNECTOR", "STATE", "TASKS", "REASON"), [_row(each) for each in connectors]))
    else:
        print_lines(["there are no connectors"])
    return ExitCode.DONE if all(each.all_runs for each in connectors) else ExitCode.FAILED


def _row(each: ConnectorState) -> tuple[str, ...]:
    return each.flow, each.name, each.state, f"{each.running}/{len(each.tasks)}", each.reason


def _document(each: ConnectorState) -> dict[str, object]:
    return {
        "flow": each.flow,
        "connector": each.name,
        "state": each.state,
        "tasks_running": each.running,
        "tasks": len(each.tasks),
        "reason": each.reason,
    }


def _order(port: AdminPort, order: _Order, connectors: Sequence[ConnectorState], timeout: float) -> int:
    """Give the order to each, and say what became of it; one that fails holds up no other."""
    code = ExitCode.DONE
    for each in connectors:
        deadline = Deadline.after(timeout)
        try:
            _patiently(deadline, partial(port.ask, order.method, port.connector_path(each.name, order.path)))
            said = _waited(port, order, each.name, deadline)
        except RefusedCall as error:
            said = str(error)
        if said:
            code = ExitCode.FAILED
        print_lines([f"{each.name}: {said or order.done}"])
    return code


def _patiently(deadline: Deadline, ask: Callable[[], Any]) -> Any:
    """Return the answer; ask again while the mirror is busy with another change (409), until the deadline."""
    while True:
        try:
            return ask()
        except RefusedCall as error:
            if error.status != HTTPStatus.CONFLICT or deadline.expired():
                raise
            sleep(_LOOK_AGAIN)


def _waited(port: AdminPort, order: _Order, name: str, deadline: Deadline) -> str:
    """Wait until a connector is where the order wants it; return why not, or nothing."""
    while True:
        found = next((each for each in port.connectors() if each.name == name), None)
        if found is None:
            return "it is gone"
        if order.reached(found):
            return ""
        if deadline.expired():
            why = f": {found.reason}" if found.reason else ""
            return f"it is {found.state} with {found.running} of {len(found.tasks)} tasks running{why}"
        sleep(_LOOK_AGAIN)


def _reload(port: AdminPort, timeout: float, *, dry_run: bool, as_json: bool) -> int:
    """Let the mirror read its files again, and print what that changes."""
    path = f"{RELOAD}?{DRY_RUN}={str(dry_run).lower()}"
    found = _patiently(Deadline.after(timeout), partial(port.ask, "POST", path))
    if as_json:
        print_json(found)
    else:
        print_lines(reload_lines(found))
    return ExitCode.DONE


def _changes(words: Sequence[str], refuse: Callable[[str], NoReturn]) -> dict[str, str]:
    changes: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not key or not equals:
            refuse(f"{word} is no KEY=VALUE")
        changes[key] = value
    return changes


def _set(port: AdminPort, name: str, changes: Mapping[str, str]) -> int:
    """Change a configuration, and print what changed."""
    path = port.connector_path(name, "/config")
    before = port.ask("GET", path)
    after = port.ask("PATCH", path, dict(changes))["config"]
    print_lines(_differences(before, after, changes) or [f"{name}: nothing changed"])
    return ExitCode.DONE


def _differences(before: Mapping[str, str], after: Mapping[str, str], asked: Mapping[str, str]) -> list[str]:
    """Return a line for each key with another value; a secret that was set has one, because it is not shown."""

    def lines() -> Iterator[str]:
        for key in dict.fromkeys([*before, *after]):
            old, new = before.get(key), after.get(key)
            if old != new:
                yield change_text(key, old, new)
            elif new == HIDDEN and key in asked:
                yield f"{key}: set; its value is not shown"

    return list(lines())


BODIES = {"ctl": CommandBody(lambda _: None, _run, wrong_words=_WRONG_WORDS)}
