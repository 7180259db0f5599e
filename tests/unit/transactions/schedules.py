"""Random walks through the model: more owners, records and faults than a search can take, over the requests' bytes."""

from __future__ import annotations

import random
from collections.abc import Hashable
from dataclasses import replace
from typing import Any, NamedTuple

from kafka.protocol.producer.transaction import AddPartitionsToTxnResponse, EndTxnResponse, InitProducerIdResponse

from legacy_mm.protocol import produce_messages
from legacy_mm.protocol.message_writer import FLEXIBLE
from legacy_mm.protocol.record_batch import ProducerStamp
from legacy_mm.transactions import txn_protocol
from legacy_mm.transactions.bundle_events import Answered
from legacy_mm.transactions.txn_requests import AddPartitionsToTxn, Append, EndTxn, InitProducerId
from tests.fakes import txn_bytes
from tests.fakes.transactions import Brokers, Entry
from tests.fakes.txn_bytes import RELEASES, VERSION_2, Release
from tests.unit.protocol.batches import NOW, Row, build
from tests.unit.transactions.steps import Label, Step, Violation, check, is_done, steps
from tests.unit.transactions.words import line
from tests.unit.transactions.world import TWO, Ask, Faults, Message, Setting, begin

PRODUCE = 0
RESPONSES: dict[type, Any] = {
    InitProducerId: InitProducerIdResponse,
    AddPartitionsToTxn: AddPartitionsToTxnResponse,
    EndTxn: EndTxnResponse,
}
MANY = Faults(claims=3, doubts=10, crashes=2, overdue=2, time_outs=2, expiries=1, moves=6)
FAULTS = {"late", "unanswered", "crash", "overdue", "time-out", "expired", "level"}
RELEASES_2 = [name for name, release in RELEASES.items() if release.end >= VERSION_2.end]
MOST_STEPS = 3_000


def in_bytes(release: Release) -> Ask:
    """A way to ask brokers of a release: each request, and each answer, is written and read."""
    contents: dict[str, Hashable] = {}

    def ask(brokers: Brokers, message: Message) -> tuple[Brokers, Answered]:
        if isinstance(message.request, Append):
            return produce(brokers, message.request, message.sequence)
        request = message.request
        sent = txn_protocol.message(request, 60_000)
        version = min(sent._max_version, release[[InitProducerId, AddPartitionsToTxn, EndTxn].index(type(request))])
        assert version >= (sent._min_version or 0), "the release does not have this transaction version"
        brokers, body = txn_bytes.respond(brokers, sent.API_KEY, version, bytes(sent.encode(version=version)))
        return brokers, txn_protocol.answered(
            request, RESPONSES[type(request)].decode(body, version=version), brokers.level
        )

    def produce(brokers: Brokers, request: Append, sequence: int) -> tuple[Brokers, Answered]:
        text = repr(request.batch)
        contents[text] = request.batch
        batch = build([Row(0, NOW, None, text.encode())]).restamp(
            ProducerStamp(*request.producer, sequence), is_transactional=True
        )
        adding = request.version.adds_partitions
        version = min(produce_messages.versions(adding=adding)[1], release.produce)
        assert version >= produce_messages.versions(adding=adding)[0], "the release does not add partitions"
        batches = [(request.partition, batch.buffer)]
        segments = produce_messages.encode(version, -1, 30_000, batches, request.transactional_id)
        asked = _named(brokers, lambda content: content if isinstance(content, bool) else repr(content))
        asked, body = txn_bytes.respond(asked, PRODUCE, version, b"".join(map(bytes, segments)))
        header = FLEXIBLE.end if produce_messages.is_flexible(version) else b""
        ((appended,), _) = produce_messages.decode(version, memoryview(header + body))
        brokers = _named(asked, lambda content: content if isinstance(content, bool) else contents[str(content)])
        return brokers, Answered(request, appended.error, offset=appended.base_offset)

    return ask


def _named(brokers: Brokers, name) -> Brokers:
    """The same logs with other contents."""
    logs = tuple(
        (partition, tuple(Entry(*entry[:3], name(entry.batch)) for entry in log)) for partition, log in brokers.logs
    )
    return brokers._replace(logs=logs)


class Walk(NamedTuple):
    """How a random walk ended."""

    violation: str
    trace: tuple[Label, ...]
    faults: int
    """The number of faults on the way."""


def walk(seed: int, setting: Setting) -> Walk:
    """Walk until everything is copied, by one step after the other; faults are spread over the way."""
    dice = random.Random(seed)
    name = dice.choice(RELEASES_2 if setting.level is TWO else list(RELEASES))
    verify = name >= "3.6" and dice.random() < 0.7
    setting = replace(setting, verify=verify, whole=False, ask=in_bytes(RELEASES[name]))
    world, faults = begin(setting), 0
    trace: list[Label] = []
    rate = dice.choice([0.02, 0.1, 0.3])
    try:
        for _ in range(MOST_STEPS):
            check(setting, world.brokers)
            found = [each for each in steps(setting, world) if each[1] != world]
            if is_done(setting, world.brokers) and (not found or dice.random() < rate):
                return Walk("", tuple(trace), faults)
            if not found:
                return Walk("nothing can happen any more", tuple(trace), faults)
            label, world = _choose(dice, found, rate)
            trace.append(label)
            faults += _is_fault(label)
    except Violation as violation:
        return Walk(str(violation), tuple(trace), faults)
    return Walk(f"not everything is copied after {MOST_STEPS} steps", tuple(trace), faults)


def _choose(dice: random.Random, found: list[Step], rate: float) -> Step:
    found.sort(key=lambda step: line(*step[0]))  # a seed is the same way in each process
    faulty = [each for each in found if _is_fault(each[0])]
    usual = [each for each in found if not _is_fault(each[0])]
    return dice.choice(faulty if faulty and (not usual or dice.random() < rate) else usual)


def _is_fault(label: Label) -> bool:
    return label[0] in FAULTS or label[-1] in ("done", "not done", "added")
