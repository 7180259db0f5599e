"""Periodic work beside the copying: one thread runs the duties at their intervals and applies the changes they find.

A duty only looks: it compares both clusters and returns what must change, so `legacy-mm plan` prints exactly what the
mirror would do. A property that is already right is not sent again. A duty that fails is logged and tried again, at its
next interval or, if copying waits for it, soon; the mirror continues.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from legacy_mm.base.clock import Deadline, monotonic
from legacy_mm.base.errors import one_line
from legacy_mm.clients.admin.cluster_admin import Admin
from legacy_mm.features.duty import ChangeNote, Duty, Scheduled
from legacy_mm.logs import events
from legacy_mm.policies.acl_rules import AclRule
from legacy_mm.policies.change_effects import WEAKENS, describe_change, effect
from legacy_mm.policies.changes import (
    AddPartitions,
    Alteration,
    Change,
    ChangeOutcome,
    CreateAcl,
    CreateTopic,
    DeleteAcl,
    Inspection,
    SetQuota,
)

_RETRY_BACKOFF = 10.0
"""Pause before a failed duty is repeated that belongs before copying: a target that is back must not copy first."""
C = TypeVar("C", CreateTopic, AddPartitions, CreateAcl, DeleteAcl, SetQuota)
A = TypeVar("A", Alteration, SetQuota)
Count = Callable[[str, int, int], None]
"""Called after each run with the duty, the number of changes made and the number that failed."""


class Applier:
    """Makes changes at the target."""

    def __init__(self, target: Admin, notes: Sequence[ChangeNote] = ()) -> None:
        """Take the target; `notes` are told which changes it has made."""
        self._target = target
        self._notes = notes

    def apply(self, changes: Sequence[Change], deadline: Deadline) -> Iterator[ChangeOutcome]:
        """Make these changes, topics first; raises HostError if the target cannot be reached."""
        target, altered = self._target, [each for each in changes if isinstance(each, Alteration)]
        yield from self._noted(target.create_topics(_of(CreateTopic, changes), deadline))
        yield from self._noted(target.add_partitions(_of(AddPartitions, changes), deadline))
        yield from self._noted(self._alone_again(target.alter, altered, deadline))
        yield from self._noted(self._create_rules(_of(CreateAcl, changes), deadline))
        yield from self._noted(target.delete_rules(_of(DeleteAcl, changes), deadline))
        yield from self._noted(self._alone_again(target.set_quotas, _of(SetQuota, changes), deadline))

    def _create_rules(self, changes: Sequence[CreateAcl], deadline: Deadline) -> Iterator[ChangeOutcome]:
        """Add rules that forbid first.

        Where one of them is refused nothing is allowed: a copy would otherwise be open to a principal that the source
        refuses.
        """
        refused: list[AclRule] = []
        for outcome in self._target.create_rules([each for each in changes if each.rule.forbids], deadline):
            if outcome.error and isinstance(outcome.change, CreateAcl):
                refused.append(outcome.change.rule)
            yield outcome
        allowing = [each for each in changes if not each.rule.forbids]
        held = [each for each in allowing if any(map(each.rule.overlaps, refused))]
        yield from self._target.create_rules([each for each in allowing if each not in held], deadline)
        for each in held:
            yield ChangeOutcome(
                each, "not added, because the target refuses a rule that forbids something for this topic"
            )

    def _alone_again(
        self, make: Callable[[Sequence[A], Deadline], Iterator[ChangeOutcome]], wanted: Sequence[A], deadline: Deadline
    ) -> Iterator[ChangeOutcome]:
        """Make changes of which one thing takes all or none.

        Try a refused one again alone, so that it holds no other one back and gets its own error.
        """
        numbers = Counter(map(_whose, wanted))
        for outcome in make(wanted, deadline):
            if outcome.error and numbers[_whose(outcome.change)] > 1:
                yield from make([outcome.change], deadline)  # type: ignore[list-item]
            else:
                yield outcome

    def _noted(self, outcomes: Iterable[ChangeOutcome]) -> Iterator[ChangeOutcome]:
        done: list[Change] = []
        try:
            for outcome in outcomes:
                done += [] if outcome.error else [outcome.change]
                yield outcome
        finally:
            for note in self._notes:
                note(done)


def _whose(change: Change) -> object:
    """Return what a change of a property or a limit is for."""
    return change.entity if isinstance(change, SetQuota) else getattr(change, "topic", None)


def _of(kind: type[C], changes: Sequence[Change]) -> list[C]:
    return [each for each in changes if isinstance(each, kind)]


@dataclass(slots=True)
class _Run:
    """The state of one duty: what was logged about it, and when it is due again."""

    scheduled: Scheduled
    due: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)
    said: frozenset[str] = frozenset()


class Duties(threading.Thread):
    """The duties of one flow. They begin when `topics_found` is called for the first time."""

    def __init__(self, scheduled: Sequence[Scheduled], applier: Applier, count: Count, run_timeout: float) -> None:
        """Take the duties; `run_timeout` is the limit of one run, in seconds."""
        super().__init__(name="duties", daemon=True)
        self._run_timeout = run_timeout
        self._runs = [_Run(each) for each in scheduled]
        self._applier = applier
        self._count = count
        self._topics: frozenset[str] = frozenset()
        self._topics_known = threading.Event()
        self._wake = threading.Event()
        self._stopping = threading.Event()

    def topics_found(self, topics: frozenset[str], deadline: Deadline) -> None:
        """Perform the duties that belong before the first record of these topics.

        Call it before streams subscribe to the topics, or the brokers create the missing ones with their defaults. A
        duty that is running already may make it wait until the deadline.
        """
        self._topics = topics
        for run in self._runs:
            if run.scheduled.before_copying and not self._stopping.is_set():
                self._perform(run, deadline)
        self._topics_known.set()

    def perform(self, duty: str, deadline: Deadline) -> bool:
        """Perform this duty now, in the caller's thread, whether or not topics are known; return False if it failed.

        A change that the target refuses is logged like any other, and does not count as a failure.
        """
        return all(self._perform(run, deadline) for run in self._runs if run.scheduled.duty.name == duty)

    def stop(self) -> None:
        """Begin nothing more; work under way may still take its time."""
        self._stopping.set()
        self._topics_known.set()
        self._wake.set()

    def run(self) -> None:
        """Wait for topics, then run each duty when it is due."""
        self._topics_known.wait()
        while not self._stopping.is_set():
            run = min(self._runs, key=lambda each: each.due)
            if not self._wake.wait(min(max(0.0, run.due - monotonic()), threading.TIMEOUT_MAX)):
                self._perform(run, Deadline.after(self._run_timeout))
            self._wake.clear()

    def _perform(self, run: _Run, deadline: Deadline) -> bool:
        """Look, change and log. Wait for a run that is under way in another thread, until the deadline."""
        if not run.lock.acquire(timeout=deadline.remaining()):
            return False
        try:
            run.due = monotonic() + run.scheduled.interval
            inspection, outcomes, failure = self._inspect_and_apply(run.scheduled.duty, deadline)
            undone = failure or inspection.unfinished or any(outcome.error for outcome in outcomes)
            if run.scheduled.before_copying and undone:
                run.due = min(run.due, monotonic() + _RETRY_BACKOFF)
                self._wake.set()
            self._tell(run, inspection, outcomes, failure)
            return not failure
        finally:
            run.lock.release()

    def _inspect_and_apply(self, duty: Duty, deadline: Deadline) -> tuple[Inspection, list[ChangeOutcome], str]:
        inspection, outcomes, failure = Inspection(), [], ""
        try:
            inspection = duty.inspect(self._topics, deadline)
            for outcome in self._applier.apply(inspection.changes, deadline):
                outcomes.append(outcome)
        except Exception as error:  # noqa: BLE001 - logged; a duty never ends the mirror
            failure = one_line(error)
        return inspection, outcomes, failure

    def _tell(self, run: _Run, inspection: Inspection, outcomes: Sequence[ChangeOutcome], failure: str) -> None:
        """Log each change, and each trouble and note that the run before did not have."""
        duty = run.scheduled.duty.name
        done = [outcome.change for outcome in outcomes if not outcome.error and not outcome.already]
        for change in done:
            found = effect(change)
            if found.danger >= WEAKENS:
                events.emit(events.DUTY_CHANGED_WITH_EFFECT, duty=duty, change=change.text, effect=found.text)
            else:
                events.emit(events.DUTY_CHANGED, duty=duty, change=describe_change(change))
        refused = [f"{outcome.change.text}: {outcome.error}" for outcome in outcomes if outcome.error]
        troubles = [*inspection.troubles, *refused, *([failure] if failure else [])]
        for trouble in troubles:
            if trouble not in run.said and not self._stopping.is_set():  # requests end with the mirror
                events.emit(events.DUTY_FAILED, duty=duty, reason=trouble)
        for note in inspection.notes:
            if note not in run.said:
                events.emit(events.DUTY_NOTED, duty=duty, note=note)
        run.said = frozenset([*troubles, *inspection.notes])
        self._count(duty, len(done), len(troubles))
