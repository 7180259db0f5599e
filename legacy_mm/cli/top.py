"""`legacy-mm top`: what a mirror that runs does, once a second, from its admin port."""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from legacy_mm.base.clock import monotonic, sleep
from legacy_mm.base.errors import HostError
from legacy_mm.cli.admin_calls import AdminPort, ConnectorState, add_port_options
from legacy_mm.cli.command import CommandBody, CommandCall, CommandParser
from legacy_mm.cli.exit_code import ExitCode
from legacy_mm.cli.output import columns, print_lines

_INTERVAL = 1.0
_HOME_AND_ERASE = "\x1b[H\x1b[J"
_SAMPLE = re.compile(r"(?P<name>[a-z_]+)\{(?P<labels>.*)\} (?P<value>\S+)")
_FLOW = re.compile(r'(?:^|,)flow="((?:[^"\\]|\\.)*)"')
_COPIED, _LAG = "legacy_mm_records_copied_total", "legacy_mm_consumer_partition_records_lag"


class _Numbers(NamedTuple):
    at: float
    """Monotonic seconds."""
    copied: Mapping[str, float]
    """Flow -> the records that it has copied since its start."""
    lag: Mapping[str, float]
    """Flow -> the records that it still has to copy; no entry where nobody knows."""


def _add_options(parser: CommandParser) -> None:
    parser.description = "What a mirror that runs does, once a second, through its --admin.port. Ctrl-C ends it."
    parser.add_argument("--once", action="store_true", help="one look, and end")
    add_port_options(parser)


def _top(call: CommandCall) -> int:
    """Show the mirror again and again; in a terminal at the same place."""
    options = call.options
    port = AdminPort(options.url, options.token_file, options.ca)
    screen = sys.stdout.isatty() and not options.once
    before: _Numbers | None = None
    try:
        while True:
            before = _show(port, options.url, before, screen=screen)
            if options.once:
                break
            sleep(_INTERVAL)
    except KeyboardInterrupt:
        pass
    return ExitCode.DONE


def _show(port: AdminPort, url: str, before: _Numbers | None, *, screen: bool) -> _Numbers | None:
    """Show one look; a terminal waits for a port that is away, as while the mirror is started again."""
    try:
        connectors, now = port.connectors(), _numbers(port.text("GET", "/metrics"))
    except HostError as error:
        if not screen:
            raise
        print_lines([f"{_HOME_AND_ERASE}{error}"])
        return None
    erase = _HOME_AND_ERASE if screen else ""
    print_lines([f"{erase}{url}: {_summary(connectors)}", *_table(connectors, before, now)])
    sys.stdout.flush()
    return now


def _summary(connectors: Sequence[ConnectorState]) -> str:
    running = sum(each.all_runs for each in connectors)
    return f"{running} of {len(connectors)} connectors run"


def _table(connectors: Sequence[ConnectorState], before: _Numbers | None, now: _Numbers) -> Iterator[str]:
    titles = ("FLOW", "CONNECTOR", "STATE", "TASKS", "COPIED", "PER SECOND", "LAG", "REASON")
    return columns(titles, [_row(each, before, now) for each in connectors])


def _row(each: ConnectorState, before: _Numbers | None, now: _Numbers) -> tuple[str, ...]:
    copied, rate, lag = _of_flow(each.flow, before, now) if each.is_source else ("", "", "")
    return each.flow, each.name, each.state, f"{each.running}/{len(each.tasks)}", copied, rate, lag, each.reason


def _of_flow(flow: str, before: _Numbers | None, now: _Numbers) -> tuple[str, str, str]:
    copied, lag = now.copied.get(flow), now.lag.get(flow)
    rate = ""
    if before is not None and copied is not None and flow in before.copied:
        more = max(0.0, copied - before.copied[flow])  # a flow that was built again counts from 0
        rate = f"{more / (now.at - before.at):,.0f}"
    return "" if copied is None else f"{copied:,.0f}", rate, "" if lag is None else f"{lag:,.0f}"


def _numbers(text: str) -> _Numbers:
    """Return what Prometheus's text says of each flow."""
    sums: Mapping[str, dict[str, float]] = {_COPIED: defaultdict(float), _LAG: defaultdict(float)}
    for line in text.splitlines():
        sample = _SAMPLE.fullmatch(line)
        if sample is None or sample["name"] not in sums or (flow := _FLOW.search(sample["labels"])) is None:
            continue
        if (value := float(sample["value"])) == value:  # lag is NaN before the first fetch
            sums[sample["name"]][flow[1]] += value
    return _Numbers(monotonic(), sums[_COPIED], sums[_LAG])


BODIES = {"top": CommandBody(_add_options, _top)}
