"""What may happen next in a state of the model, and what must hold in each."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from legacy_mm.base.model import TopicPartition
from legacy_mm.protocol.error_codes import ErrorCode as E
from legacy_mm.transactions.bundle_events import (
    Answered,
    BundleAction,
    BundleEvent,
    Discard,
    End,
    Owned,
    PieceRead,
    PositionsRead,
    ReadPositions,
    Report,
    Send,
    Timer,
    Unanswered,
)
from legacy_mm.transactions.bundle_session import BundleSession, BundleState, Next
from legacy_mm.transactions.txn_errors import Reaction, reaction_to
from legacy_mm.transactions.txn_requests import (
    AddPartitionsToTxn,
    Append,
    EndTxn,
    InitProducerId,
    ProducerIdAndEpoch,
)
from tests.fakes.transactions import (
    PREPARED,
    Brokers,
    Status,
    TxnMetadata,
    View,
    committed,
    producer_state,
    read_committed,
)
from tests.unit.transactions.world import (
    FLOW,
    FLOW_BUNDLE,
    NOBODY,
    ONE,
    SOURCE,
    TARGET,
    TWO,
    Lane,
    Message,
    Owner,
    Setting,
    World,
    bundle_for,
    changed,
    new_owner,
    positions_in,
)

Label = tuple[Any, ...]
Step = tuple[Label, World]
PASSING = {True: E.COORDINATOR_NOT_AVAILABLE, False: E.NOT_COORDINATOR}
PASSING_AT_A_LEADER = {True: E.NOT_ENOUGH_REPLICAS_AFTER_APPEND, False: E.NOT_ENOUGH_REPLICAS}


class Violation(Exception):
    """A property does not hold."""


def steps(setting: Setting, world: World) -> Iterator[Step]:
    """Yield everything that may happen next, with the state after it."""
    if setting.whole and (marker := _quiet_marker(world)):
        yield marker
        return
    for message in sorted(world.wire, key=hash):  # equal sets may have another order
        yield from _message_steps(setting, world, message)
    for number, owner in enumerate(world.owners):
        yield from _owner_steps(setting, world, number, owner)
    for transactional_id, entry in world.brokers.entries:
        yield from _broker_steps(world, transactional_id, entry)
    if world.faults.levels:
        other = TWO if world.brokers.level is ONE else ONE
        yield ("level", other), world.minus("levels")._replace(brokers=world.brokers._replace(level=other))


def _message_steps(setting: Setting, world: World, message: Message) -> Iterator[Step]:
    after, answer = work(setting, world, message)
    if message.owner == NOBODY:
        after = after._replace(wire=after.wire - {message})
        yield ("late", message, answer.error), without_dead(after)
        return
    yield ("answered", message, answer.error), answered(setting, after, message, answer)
    if world.faults.copies:
        copied = world.minus("copies").with_late(message)
        yield ("copied", message), copied._replace(wire=copied.wire | {message})
    if world.faults.doubts:
        yield ("unanswered", message), unanswered(setting, world.minus("doubts"), message)
    if world.faults.moves:
        errors = PASSING_AT_A_LEADER if isinstance(message.request, Append) else PASSING
        for done, error in errors.items():
            said = Answered(message.request, error)
            yield (
                ("answered", message, error, "done" if done else "not done"),
                answered(setting, (after if done else world).minus("moves"), message, said),
            )
        if added := _only_added(world, message):
            said = Answered(message.request, E.NOT_ENOUGH_REPLICAS)
            yield ("answered", message, said.error, "added"), answered(setting, added.minus("moves"), message, said)


def _only_added(world: World, message: Message) -> World | None:
    """The state after a leader has added its partition, but could not append."""
    match message.request:
        case Append(name, producer, partition, _, version) if version is TWO:
            return world._replace(brokers=world.brokers.admit(name, partition, producer)[0])
    return None


def _owner_steps(setting: Setting, world: World, number: int, owner: Owner) -> Iterator[Step]:
    session, faults = owner.session, world.faults

    def told(event: BundleEvent, before: World = world) -> World:
        return tell(setting, before, number, event)

    if session.state is BundleState.IDLE:
        if not any(each.is_active for each in world.owners if each.session.bundle == session.bundle):
            yield ("owned", number), told(Owned())
        elif faults.claims:
            yield ("owned", number), told(Owned(), world.minus("claims"))
    if owner.reads_past > -2:
        view = read_committed(world.brokers.log(session.bundle.positions))
        if view.last_stable_offset > owner.reads_past:
            read = PositionsRead(*found(setting, owner, view))
            idle = world.with_owner(number, owner._replace(reads_past=-2))
            yield ("read", number, read), told(read, idle)
    if setting.whole and session.state is BundleState.READY:
        after = world
        while session.bundle != FLOW_BUNDLE and (piece := next_piece(setting, after.owners[number].session)):
            after = tell(setting, after, number, piece)
            yield ("pieces until", number, piece), tell(setting, after, number, Timer.INTERVAL_OVER)
    elif session.takes_pieces and session.bundle != FLOW_BUNDLE and (piece := next_piece(setting, session)):
        yield ("piece", number, piece), told(piece)
    if session.state is BundleState.OPEN:
        yield ("interval", number), told(Timer.INTERVAL_OVER)
    if session.transaction and faults.overdue:
        yield ("overdue", number), told(Timer.OVERDUE, world.minus("overdue"))
    if owner.is_active and faults.stops:
        yield ("stop", number), told(Timer.STOP, world.minus("stops"))
    if session.state is BundleState.OVER and not setting.checks_flow:
        yield ("restart", number), world.with_owner(number, new_owner(setting, owner.bundles))
    if owner.is_active and faults.crashes:
        crashed = _given_up(world.minus("crashes"), number)
        yield (
            ("crash", number),
            without_dead(crashed.with_owner(number, new_owner(setting, owner.bundles))),
        )


def _broker_steps(world: World, transactional_id: str, entry: TxnMetadata) -> Iterator[Step]:
    faults, brokers = world.faults, world.brokers
    if entry.status in PREPARED:
        for partition in sorted(entry.partitions):
            marked = world._replace(brokers=brokers.write_marker(transactional_id, partition))
            yield ("marker", transactional_id, partition, entry.status), without_dead(marked)
        return
    ended_by = changed(world.ended_by, transactional_id, NOBODY)
    if entry.status is Status.ONGOING:
        after = world._replace(brokers=brokers.time_out(transactional_id), ended_by=ended_by)
        if all(each.session.producer != entry.producer for each in world.owners):
            yield ("time-out", transactional_id), without_dead(after)
        elif faults.time_outs:
            yield ("time-out", transactional_id), without_dead(after.minus("time_outs"))
    elif faults.expiries and not any(each.owner == NOBODY for each in world.wire):
        after = world._replace(brokers=brokers.with_entry(transactional_id, None), ended_by=ended_by)
        yield ("expired", transactional_id), after.minus("expiries")


def _quiet_marker(world: World) -> Step | None:
    """A marker that may as well come now as later: no batch of its producer is under way."""
    for transactional_id, entry in world.brokers.entries:
        if entry.status in PREPARED and not any(
            isinstance(each.request, Append) and of_producer(each, entry.producer_id) for each in world.wire
        ):
            return next(_broker_steps(world, transactional_id, entry))
    return None


def of_producer(message: Message, producer_id: int) -> bool:
    """Whether it is one of a producer id's, or may be."""
    match message.request:
        case InitProducerId():
            return True
        case request:
            return request.producer.producer_id == producer_id


# What an owner does


def tell(setting: Setting, world: World, number: int, event: BundleEvent) -> World:
    """The state after an owner's session has handled an event, and its actions are done."""
    owner = world.owners[number]
    session, actions = _handled(owner.session, event)
    if session.producer != owner.session.producer:
        owner = owner._replace(lanes=())
    world = world.with_owner(number, owner._replace(session=session))
    for action in actions:
        world = _do(world, number, action)
    return without_dead(_flow_read(setting, world, number))


@lru_cache(1 << 16)
def _handled(session: BundleSession, event: BundleEvent) -> Next:
    """What the product's session makes of an event: many states have the same one."""
    return session.handle(event)


def _do(world: World, number: int, action: BundleAction) -> World:
    owner = world.owners[number]
    match action:
        case Send(Append() as request):
            return _append(world, number, request)
        case Send(request):
            return world._replace(wire=world.wire | {Message(number, request)})
        case ReadPositions(past):
            return world.with_owner(number, owner._replace(reads_past=past))
        case Discard() | End():
            return _given_up(world, number)
        case Report(positions):
            known = dict(positions_in(views(world.brokers, owner.session.bundle.positions)[1]))
            if any(known.get(source, 0) < offset for source, offset in positions):
                raise Violation(f"owner {number} reports {positions} before they are committed")
    return world


def _append(world: World, number: int, request: Append) -> World:
    owner = world.owners[number]
    lane = dict(owner.lanes).get(request.partition, Lane())
    if all(request != waiting for _, waiting in lane.queue):
        lane = Lane(lane.next + 1, (*lane.queue, (lane.next, request)))
    world = world.with_owner(number, owner._replace(lanes=changed(owner.lanes, request.partition, lane)))
    sequence, first = lane.queue[0]
    return world._replace(wire=world.wire | {Message(number, first, sequence)})


def _given_up(world: World, number: int) -> World:
    """The owner waits for nothing any more; what it has sent is still on its way. Its numbers go on from the first
    batch that was not acknowledged, if it should ever use this epoch again.
    """
    owner = world.owners[number]
    lanes = tuple((each, Lane(lane.queue[0][0] if lane.queue else lane.next)) for each, lane in owner.lanes)
    mine = sorted((each for each in world.wire if each.owner == number), key=hash)
    return world.with_late(*mine).with_owner(number, owner._replace(lanes=lanes, reads_past=-2))


def _flow_read(setting: Setting, world: World, number: int) -> World:
    """An owner that has read the number of bundles claims its own bundle, or ends."""
    owner = world.owners[number]
    if owner.session.bundle != FLOW_BUNDLE or owner.session.state is not BundleState.READY:
        return world
    if dict(owner.session.positions)[FLOW] != owner.bundles:
        return tell(setting, world, number, Timer.STOP)
    session, _ = setting.session.begin(bundle_for(SOURCE, owner.bundles))
    return world.with_owner(number, Owner(session, owner.bundles))


def found(setting: Setting, owner: Owner, view: View):
    """The positions that are read, and those that an owner adopts."""
    positions = dict(positions_in(view.batches))
    if owner.session.bundle == FLOW_BUNDLE:
        wanted = {FLOW: owner.bundles}
    else:
        wanted = dict.fromkeys(setting.sources(owner.session.bundle, owner.bundles), 0)
    known = {each: positions[each] for each in wanted if each in positions}
    adopted = {each: offset for each, offset in wanted.items() if each not in positions}
    return tuple(sorted(known.items())), tuple(sorted(adopted.items()))


def next_piece(setting: Setting, session: BundleSession) -> PieceRead | None:
    """One record of the source partition that is behind the others."""
    for source, offset in sorted(session.next, key=lambda pair: (pair[1], pair[0])):
        if offset < setting.records[source.partition]:
            return PieceRead(source, offset, offset + 1, ((TARGET, (source.partition, offset)),))
    return None


# What a broker does


def work(setting: Setting, world: World, message: Message) -> tuple[World, Answered]:
    """The state after a broker has done what it was asked, and its answer."""
    request = message.request
    brokers, answer = setting.ask(world.brokers, message)
    by_others = dict(world.ended_by)
    if isinstance(request, InitProducerId):
        name = request.transactional_id
        if not answer.error:
            world = world._replace(owned_by=changed(world.owned_by, name, message.owner))
        if not answer.error or (brokers != world.brokers and by_others[name] != NOBODY):
            is_new = request.expected and answer.producer and answer.producer[0] != request.expected[0]
            by = NOBODY if is_new else message.owner  # the coordinator had forgotten the id
            world = world._replace(ended_by=changed(world.ended_by, name, by))
    elif isinstance(request, AddPartitionsToTxn) and message.owner == NOBODY and not answer.error:
        # It may have opened a transaction that its owner knows nothing of.
        world = world._replace(ended_by=changed(world.ended_by, request.transactional_id, NOBODY))
    elif isinstance(request, EndTxn) and request.version is TWO and brokers != world.brokers:
        world = world._replace(ended_by=changed(world.ended_by, request.transactional_id, message.owner))
    return world._replace(brokers=brokers), answer


def answered(setting: Setting, world: World, message: Message, answer: Answered) -> World:
    """The state after the answer has arrived."""
    number, request = message.owner, message.request
    world = world._replace(wire=world.wire - {message})
    reaction = reaction_to(request, answer.error)
    transactional_id = world.owners[number].session.bundle.transactional_id
    blamed = [dict(pairs).get(transactional_id) for pairs in (world.owned_by, world.ended_by)]
    if reaction is Reaction.FENCED and blamed == [number, number]:
        raise Violation(f"owner {number} is fenced by nobody but itself")
    if isinstance(request, Append) and reaction is Reaction.GO_ON:
        world = _off_the_lane(world, number, request)
    return tell(setting, world, number, answer)


def _off_the_lane(world: World, number: int, request: Append) -> World:
    owner = world.owners[number]
    lane = dict(owner.lanes)[request.partition]
    queue = lane.queue[1:]
    lanes = changed(owner.lanes, request.partition, lane._replace(queue=queue))
    sent = {Message(number, first, sequence) for sequence, first in queue[:1]}
    return world._replace(wire=world.wire | sent).with_owner(number, owner._replace(lanes=lanes))


def unanswered(setting: Setting, world: World, message: Message) -> World:
    """The state after the connection broke: the request may still arrive."""
    return tell(setting, world.with_late(message), message.owner, Unanswered(message.request))


# What must hold


def without_dead(world: World) -> World:
    """Leave out late requests that no broker would ever do anything for: those of an earlier epoch."""
    dead = {each for each in world.wire if each.owner == NOBODY and _is_dead(world, each)}
    return world._replace(wire=world.wire - dead) if dead else world


def _is_dead(world: World, message: Message) -> bool:
    match message.request:
        case InitProducerId():
            return False
        case Append(name, producer, partition, _, version):
            state = producer_state(world.brokers.log(partition), producer.producer_id)
            if (producer.epoch, message.sequence) <= (state.epoch, state.last_sequence) or producer.epoch < state.epoch:
                return True
            is_open = state.is_open and producer.epoch == state.epoch
            return version is TWO and not is_open and not _is_of(producer, world.brokers.entry(name))
        case request:
            return not _is_of(request.producer, world.brokers.entry(request.transactional_id))


def _is_of(producer: ProducerIdAndEpoch, entry: TxnMetadata | None) -> bool:
    return entry is not None and entry.producer == producer


def views(brokers: Brokers, partition: TopicPartition) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """What a reader sees of a partition now, and what it would see if no marker was missing."""
    return read_committed(brokers.log(partition)).batches, committed(brokers.when_marked(partition))


def check(setting: Setting, brokers: Brokers) -> None:
    """Raise Violation unless readers see each record once and in order, and positions say how far."""
    seen, decided = views(brokers, TARGET)
    for source in range(len(setting.records)):
        for batches in (seen, decided):
            offsets = [offset for number, offset in batches if number == source]
            if offsets != list(range(len(offsets))):
                raise Violation(f"a reader of the target sees the offsets {offsets} of s-{source}")
        if len({*setting.owners}) == 1:
            bundle = bundle_for(TopicPartition("s", source), setting.owners[0])
            _, positions = views(brokers, bundle.positions)
            position = dict(positions_in(positions)).get(TopicPartition("s", source), 0)
            if position != len(offsets):
                raise Violation(f"{len(offsets)} records of s-{source} are committed, its position is {position}")


def is_done(setting: Setting, brokers: Brokers) -> bool:
    """Whether everything is copied and nothing is open in any log."""
    seen, _ = views(brokers, TARGET)
    logs_end = all(read_committed(log).last_stable_offset == len(log) for _, log in brokers.logs)
    return logs_end and any(
        len(seen) == sum(setting.records[each.partition] for each in copied(setting, bundles))
        for bundles in setting.owners
    )


def copied(setting: Setting, bundles: int) -> list[TopicPartition]:
    """The source partitions that an owner copies."""
    return setting.sources(bundle_for(SOURCE, bundles), bundles)
