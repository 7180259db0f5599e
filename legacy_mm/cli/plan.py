"""`legacy-mm plan` prints what the features would change at the target; `legacy-mm apply` does what a saved plan says.

Both take the mirror's command line behind `--`, and before it flags to try out. Both clusters are read; `plan` writes
nothing. `apply` reads them again and refuses a plan that they no longer fit.

A saved plan is one JSON document: `format` (1), and of each of the `flows` its `flow` (a name), `left_behind` (lines),
`group_moves` (of each group, lines: what the mirror will commit for it; `apply` leaves that to the mirror), and its
`duties`, each with `duty` (a name), `changes`, `effects` (a line for each change, empty where nobody is hurt),
`troubles` and `notes` (lines). A change has `change` (what kind it is), its fields, and of those that replace something
the old value and the new one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from legacy_mm.base.errors import ConfigurationError, HostError, StreamFailure
from legacy_mm.cli.cluster_inspection import START, FlowClusters, FlowPlan
from legacy_mm.cli.command import CommandBody, CommandCall, CommandParser
from legacy_mm.cli.exit_code import ExitCode
from legacy_mm.cli.group_plan import GROUP_OFFSETS
from legacy_mm.cli.mirror_line import DriverFlow, MirrorLine
from legacy_mm.cli.output import as_json
from legacy_mm.explain import host_inspection
from legacy_mm.flow import client_checks
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.flow_topics import FlowTopics
from legacy_mm.logs import root_logger
from legacy_mm.policies.change_effects import describe_change, effect, worst_first
from legacy_mm.policies.changes import Change, ChangeOutcome, Inspection, from_json, to_json
from legacy_mm.runtime.jvm.gateway import Jvm
from legacy_mm.runtime.spark.session import java_for
from legacy_mm.words.mirror_maker_2.file_lines import FileLines

_FORMAT = 1
_USAGE = "legacy-mm {} [FLAGS] -- kafka-mirror-maker.sh OPTIONS"
_SHOWN = 20
_LAST_WORD = (
    "{count} marked as trouble, so the exit code is 1. The plan is whole: a cluster that does not answer ends with an "
    "error and no plan"
)
Key = tuple[str, str, str]
"""Flow, duty, and the change as JSON: what two plans are compared by."""


def _add_plan_options(parser: CommandParser) -> None:
    parser.usage = _USAGE.format("plan [--json] [--output FILE]")
    parser.epilog = "exit code 0: no changes; 2: some; 1: a trouble is in the plan, or an error, and there is no plan"
    parser.add_argument("--json", action="store_true", help="one JSON document instead of text")
    parser.add_argument("--output", type=Path, metavar="FILE", help="save the plan, for legacy-mm apply")


def _add_apply_options(parser: CommandParser) -> None:
    parser.usage = _USAGE.format("apply PLAN")
    parser.epilog = "exit code 0: everything is done; 1: refused, or something failed"
    parser.add_argument("plan", type=Path, help="what legacy-mm plan --output saved")


def _plan(call: CommandCall) -> int:
    options = call.options
    with _flows(call.line) as flows:
        plans = [*_looked(call.line, flows), *_refused(call.line)]
    document = as_json(_document(plans))
    if options.output is not None:
        _save(options.output, document)
    sys.stdout.write(document if options.json else "".join(f"{each}\n" for each in _lines(plans)))
    if any(inspection.troubles for each in plans for inspection in each.inspections.values()):
        return ExitCode.FAILED
    return ExitCode.FOUND if _keys(plans) or any(each.moves for each in plans) else ExitCode.DONE


def _apply(call: CommandCall) -> int:
    saved = _saved(call.options.plan)
    with _flows(call.line) as found:
        flows = [clusters() for clusters in found.values()]
        plans = [flow.inspect() for flow in flows]
        _refuse_difference(saved, _keys(plans))
        failed = 0
        for flow, plan in zip(flows, plans, strict=True):
            for outcome in flow.apply(_changes(plan)):
                sys.stdout.write(f"{_line(outcome)}\n")
                failed += bool(outcome.error)
    return ExitCode.FAILED if failed else ExitCode.DONE


@contextmanager
def _flows(line: MirrorLine) -> Iterator[Mapping[str, Callable[[], FlowClusters]]]:
    """Yield the flows of a command line by their names, while Java runs for them."""
    root_logger.silence()
    settings, of_file = line.flows(), line.driver_flows()
    with java_for(settings[0].process.spark.jvm) as jvm:
        yield {each.flow: partial(_clusters, each, of_file.get(each.flow), jvm) for each in settings}


def _clusters(settings: Settings, of_file: DriverFlow | None, java: Jvm) -> FlowClusters:
    """Return the clusters of a flow that would start; raise LegacyMMError as its start does."""
    client_checks.check_clients(settings)
    host_inspection.inspect((settings,), lambda: java)
    if of_file is None:
        names = FlowTopics(settings.topics, settings.features, lambda pattern: java.topic_matcher(pattern))
    else:
        names = of_file.names(settings, lambda: java.topic_matcher)
    return FlowClusters(settings, names, java)


def _refused(line: MirrorLine) -> Iterator[FlowPlan]:
    """Yield the flows of a file that would not run, while the others do."""
    for flow, why in line.refused().items():
        yield _in_trouble(flow, why)


def _looked(line: MirrorLine, flows: Mapping[str, Callable[[], FlowClusters]]) -> Iterator[FlowPlan]:
    """Yield what each flow would change; what is wrong with one flow of a file is no other flow's trouble."""
    lines = line.lines_of_flows()
    for flow, clusters in flows.items():
        try:
            with lines.get(flow, FileLines()).named():
                found = clusters().inspect()
        except (ConfigurationError, StreamFailure) as error:
            if flow not in lines:
                raise
            found = _in_trouble(flow, line.hidden(str(error)))
        yield found


def _in_trouble(flow: str, why: str) -> FlowPlan:
    return FlowPlan(flow, {START: Inspection(troubles=(why,))})


def _changes(plan: FlowPlan) -> list[Change]:
    return [change for inspection in plan.inspections.values() for change in inspection.changes]


def _keys(plans: Iterable[FlowPlan]) -> dict[Key, Change]:
    return {
        _key(each.flow, duty, change): change
        for each in plans
        for duty, inspection in each.inspections.items()
        for change in inspection.changes
    }


def _key(flow: str, duty: str, change: Change) -> Key:
    return flow, duty, json.dumps(to_json(change), sort_keys=True)


def _document(plans: Iterable[FlowPlan]) -> dict[str, Any]:
    flows = [
        {
            "flow": each.flow,
            "left_behind": each.left_behind,
            "group_moves": each.moves,
            "duties": [
                {
                    "duty": duty,
                    "changes": [to_json(change) for change in inspection.changes],
                    "effects": [effect(change).text for change in inspection.changes],
                    "troubles": inspection.troubles,
                    "notes": inspection.notes,
                }
                for duty, inspection in each.inspections.items()
            ],
        }
        for each in plans
    ]
    return {"format": _FORMAT, "flows": flows}


def _lines(plans: Sequence[FlowPlan]) -> Iterator[str]:
    troubles = 0
    for each in plans:
        troubles += sum(len(inspection.troubles) for inspection in each.inspections.values())
        yield f"{each.flow}:"
        for duty, inspection in each.inspections.items():
            moves = [line for lines in each.moves.values() for line in lines] if duty == GROUP_OFFSETS else []
            said = [
                *moves,
                *map(describe_change, worst_first(inspection.changes)),
                *(f"trouble: {text}" for text in inspection.troubles),
                *(f"note: {text}" for text in inspection.notes),
            ]
            yield f"  {duty}:" if said else f"  {duty}: nothing to do"
            yield from (f"    {text}" for text in said)
        if not each.inspections:
            yield "  no feature that changes anything at the target is switched on"
        if each.left_behind:
            yield "  left behind, and not removed:"
            yield from (f"    {text}" for text in each.left_behind)
    if troubles:
        yield _LAST_WORD.format(count=troubles)


def _save(file: Path, document: str) -> None:
    try:
        file.write_text(document, encoding="utf-8")
    except OSError as error:
        raise HostError(f"{file} cannot be written: {error.strerror}") from error


def _saved(file: Path) -> dict[Key, Change]:
    """Read a saved plan; raises ConfigurationError if the file holds none."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        rows = [(flow["flow"], duty["duty"], duty["changes"]) for flow in document["flows"] for duty in flow["duties"]]
        known = document["format"] == _FORMAT
    except OSError as error:
        raise HostError(f"{file} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(f"{file} is no plan: save one with legacy-mm plan --output") from error
    if not known:
        raise ConfigurationError(f"{file} was saved by another version: save it again with legacy-mm plan --output")
    return {_key(flow, duty, change): change for flow, duty, found in rows for change in map(from_json, found)}


def _refuse_difference(saved: Mapping[Key, Change], fresh: Mapping[Key, Change]) -> None:
    gone = [f"only in the plan: {saved[key].text}" for key in saved if key not in fresh]
    new = [f"only now: {fresh[key].text}" for key in fresh if key not in saved]
    if lines := [*gone, *new]:
        more = [f"and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
        told_lines = "".join(f"\n  {each}" for each in [*lines[:_SHOWN], *more])
        raise HostError(f"the clusters are not as they were when the plan was made; nothing was changed:{told_lines}")


def _line(outcome: ChangeOutcome) -> str:
    if outcome.error:
        return f"failed: {outcome.change.text}: {outcome.error}"
    return f"{'already so' if outcome.already else 'done'}: {outcome.change.text}"


BODIES = {"plan": CommandBody(_add_plan_options, _plan), "apply": CommandBody(_add_apply_options, _apply)}
