"""The herder of a command line of `kafka-mirror-maker.sh` whose files can be read again while it runs.

The words of the line stay. What its files and its options say may change: the mirror of such a flow gives its place to
another one, with all that was copied committed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.option import OptionValue
from legacy_mm.connect.entities import ConnectRestError, TargetState
from legacy_mm.connect.legacy_herder import LegacyFlow, LegacyHerder
from legacy_mm.connect.process_herder import refusals
from legacy_mm.connect.reload_plan import (
    KEEPS_POSITIONS,
    FlowAction,
    FlowPlan,
    KeyChange,
    ReloadPlan,
    differences,
    without,
)
from legacy_mm.connect.start_words import LevelChanges, StartWords, of_flows, of_process
from legacy_mm.features.exactly_once.feature import EXACTLY_ONCE
from legacy_mm.flow import client_checks
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.host import Host
from legacy_mm.flow.mirror import Mirror
from legacy_mm.logs import root_logger
from legacy_mm.words.legacy_tool.console import say_notes
from legacy_mm.words.legacy_tool.translate import LineOutcome, MirrorRun
from legacy_mm.words.options.option_catalogue import OwnOptions

_SWITCH = "exactly.once"
_GROUP = "group.id"
_CONSUMER, _PRODUCER = "--consumer.config ", "--producer.config "
_BUSY = "The change before is under way: try again"


@dataclass(frozen=True, slots=True)
class _Reading:
    """The files as they are now, and what follows."""

    run: MirrorRun
    plan: ReloadPlan
    flows: Sequence[Settings]
    levels: LevelChanges


class LineHerder(LegacyHerder):
    """Tells of the mirrors of a command line, and reads its files again."""

    def __init__(
        self,
        run: MirrorRun,
        flows: Sequence[LegacyFlow],
        mirrors: Sequence[Mirror],
        host: Host,
        worker_id: str,
        words: StartWords[LineOutcome],
        build: Callable[[Settings], Mirror],
    ) -> None:
        """Take the flows of a run, how its files are read again, and what builds a mirror."""
        super().__init__(flows, mirrors, host, worker_id)
        self._run = run
        self._words = words
        self._build = build
        self._logs = words.logs(run.options)

    def reload(self, *, dry_run: bool) -> ReloadPlan:
        """Read the files and the options again, and let the flows do what they say now."""
        with self._lock:
            if any(each.gives_way for each in self._mirrors):
                raise ConnectRestError(HTTPStatus.CONFLICT, _BUSY)
            with refusals():
                reading = self._read_again()
            if not dry_run:
                self._apply(reading)
            return reading.plan

    def flow_options(self, flow: str) -> Sequence[OptionValue]:
        """Return the flags in the files of the clients."""
        with self._lock:
            flows = zip(self._run.flows, self._run.flags, strict=True)
            return [each for settings, flags in flows if settings.flow == flow for each in flags]

    def _read_again(self) -> _Reading:
        options, of_all = of_process(self._run.options, self._words.options())
        run = self._translated(options)
        switched = [
            now.features[EXACTLY_ONCE] is not None
            for now, then in zip(self._now(), run.flows, strict=True)
            if (now.features[EXACTLY_ONCE] is None) != (then.features[EXACTLY_ONCE] is None)
        ]
        asked = run
        if switched:
            flag = {_SWITCH: [str(switched[0]).lower()]}
            run = self._translated(replace(options, features={**options.features, **flag}))
        flows = [_in_group_of(now, then) for now, then in zip(self._now(), run.flows, strict=True)]
        for each in flows:
            client_checks.check_clients(each)
            self._with_stores(each)
        levels = LevelChanges.between(self._logs, self._words.logs(options))
        plan = ReloadPlan(self._plans(asked, flows), of_all, levels.plan())
        return _Reading(replace(run, options=options), plan, flows, levels)

    def _translated(self, options: OwnOptions) -> MirrorRun:
        run = self._words.outcome(options)
        if not isinstance(run, MirrorRun):
            raise ConfigurationError("the command line would not run with its files as they are now")
        root_logger.hide(run.secrets)
        return run

    def _now(self) -> list[Settings]:
        return [each.settings for each in self._flows]

    def _plans(self, run: MirrorRun, flows: Sequence[Settings]) -> list[FlowPlan]:
        of_all = [
            *_named(_PRODUCER, differences(self._run.files[-1], run.files[-1])),
            *differences(of_flows(self._run.options), of_flows(run.options)),
        ]
        plans = []
        for place, (now, then) in enumerate(zip(self._now(), flows, strict=True)):
            own = _named(_CONSUMER, differences(self._run.files[place], run.files[place]))
            left = _left(now, run.flows[place])
            changes = without([*own, *of_all], [each.key for each in left], [_CONSUMER, _PRODUCER])
            plans.append(FlowPlan.of(now.flow, changes if now != then else None, left))
        return plans

    def _apply(self, reading: _Reading) -> None:
        said = self._run.notes
        say_notes([each for each in reading.run.notes if each not in said])
        reading.levels.apply()
        self._run, self._logs = reading.run, self._words.logs(reading.run.options)
        for place, (plan, settings) in enumerate(zip(reading.plan.flows, reading.flows, strict=True)):
            if plan.action is FlowAction.CHANGE:
                self._change(self._flows[place], self._mirrors[place], settings)
            plan.tell()

    def _change(self, flow: LegacyFlow, mirror: Mirror, settings: Settings) -> None:
        flow.settings, flow.build = settings, partial(self._build, settings)
        if flow.target is not TargetState.STOPPED:  # else the next one that is resumed is built so
            mirror.replace(lambda: self._built_again(flow), paused=flow.target is TargetState.PAUSED)


def _in_group_of(now: Settings, then: Settings) -> Settings:
    """Return the later settings with the group of the earlier ones, whose offsets say what was copied."""
    client = then.source.client
    membership = replace(client.membership, group_id=now.source.group_id)
    return replace(then, source=replace(then.source, client=replace(client, membership=membership)))


def _left(now: Settings, asked: Settings) -> list[KeyChange]:
    """Return what stays as it is, though the files say otherwise."""
    groups = now.source.group_id, asked.source.group_id
    switches = [str(each.features[EXACTLY_ONCE] is not None).lower() for each in (now, asked)]
    found = ((f"{_CONSUMER}{_GROUP}", *groups), (_SWITCH, *switches))
    return [KeyChange(key, before, after, KEEPS_POSITIONS) for key, before, after in found if before != after]


def _named(file: str, changes: Sequence[KeyChange]) -> list[KeyChange]:
    return [KeyChange(f"{file}{each.key}", each.before, each.after) for each in changes]
