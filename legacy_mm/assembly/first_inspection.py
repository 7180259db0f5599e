"""The steps between the first look at the source's topics and the first record that is read."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import LegacyMMError, one_line
from legacy_mm.base.settings import SourceSettings
from legacy_mm.controlplane.positions import GapGuard
from legacy_mm.flow.feature_work import FeatureWork
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.flow_topics import FlowTopics
from legacy_mm.flow.position_book import PositionBook
from legacy_mm.flow.refused_records import quarantine_topic, tell_of_quarantine
from legacy_mm.logs import events
from legacy_mm.transactions.exactly_once_start import exactly_once_start

if TYPE_CHECKING:
    from legacy_mm.flow.cluster_identity import IdentityCheck

_MOST_EARLIER_COPIES = 20
FirstStep = Callable[[frozenset[str]], None]
"""It takes the first topics, and raises HostError where it is to be tried again."""


def first_inspection(
    settings: Settings,
    names: FlowTopics,
    guard: GapGuard,
    identity: IdentityCheck | None,
    book: PositionBook,
    work: FeatureWork,
) -> FirstStep:
    """Return all steps as one, each after the one before.

    (1) Source and target are two clusters. (2) No node of another kind is there. (3) The flow's own topics are there.
    (4) Copies that hold records already are told. (5) A group that has no offset gets one. (6) Exactly once has its
    topic and its record. (7) A quarantine that would refuse records is told.
    """
    begin, early = _group_start(settings.source, guard, book), _earlier_copies(settings, names, book)
    start, workers = exactly_once_start(settings), work.workers

    def inspect(topics: frozenset[str]) -> None:
        # (1)
        if identity is not None:
            identity.inspect()
        if workers is not None:
            # (2)
            workers.require_own_kind(Deadline.after(settings.source.api_timeout))
            # (3)
            if work.duties is not None:
                work.duties.make_own_topics()
            workers.check(names.own_topics("target").keys() - {names.heartbeats_topic()})
        # (4)
        if early is not None:
            early(topics)
        # (5)
        if begin is not None and (start is None or not start.has_begun(topics)):
            begin(topics)
        # (6)
        if start is not None:
            start.prepare(frozenset(map(names.at_target, topics)))
        # (7)
        if quarantine_topic(settings) is not None:
            tell_of_quarantine(settings, Deadline.after(settings.source.api_timeout))

    return inspect


def _earlier_copies(settings: Settings, names: FlowTopics, book: PositionBook) -> FirstStep | None:
    """Return what tells of copies that are there already; None without features, which ask the target nothing."""
    if not settings.features.concern_both_ends:
        return None
    from legacy_mm.assembly.earlier_copies import EarlierCopies

    copies = EarlierCopies(settings, names, book)

    def inspect(topics: frozenset[str]) -> None:
        try:
            notices = list(copies.tell(topics, Deadline.after(settings.source.api_timeout)))
        except LegacyMMError as error:
            events.emit(events.EARLIER_COPIES_UNKNOWN, reason=one_line(error))
            return
        # those of another log are said where they are read
        found = [each for each in notices if each.event is not events.POSITION_OF_ANOTHER_LOG]
        for each in found[:_MOST_EARLIER_COPIES]:
            events.emit(each.event, error=None, **each.fields)
        if len(found) > _MOST_EARLIER_COPIES:
            events.emit(events.EARLIER_COPIES_LEFT, count=len(found) - _MOST_EARLIER_COPIES)

    return inspect


def _group_start(source: SourceSettings, guard: GapGuard, book: PositionBook) -> FirstStep | None:
    if not source.new_from_earliest:
        return None
    from legacy_mm.clients.admin.inspector import log_ends
    from legacy_mm.controlplane.group_start import GroupStart

    return GroupStart(book, partial(log_ends, source.client), guard, source.api_timeout).keep
