"""Section 7 of the contract, as tables: what a claim adopts, and the sentence of each refusal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.base.errors import Undecided
from legacy_mm.base.model import CommittedOffset, GroupMember, TopicPartition
from legacy_mm.transactions.evidence import (
    Evidence,
    SourceSide,
    decide_positions,
    flow_doubt,
    group_doubt,
    mark,
    require_own,
)
from legacy_mm.transactions.offset_book import GROUP, OffsetBook
from legacy_mm.transactions.position_records import FlowRecord, SourcePosition

PLACE = TopicPartition("orders", 3)
NONE: frozenset[TopicPartition] = frozenset()
POSITION = SourcePosition(100, 4, "topic-id", "cluster-id", 1_764_172_110_000)
ADOPTED = POSITION._replace(adopted=60)
RETIRED = POSITION._replace(retired=True)
OURS = mark("pos")
ADOPT = "legacy-mm exactly-once adopt takes the group's offset as the position"
RETIRE = "legacy-mm exactly-once retire gives the group the position, from which the next start adopts it"
MOVE = "legacy-mm exactly-once move sets the position"


def source(
    offset: CommittedOffset | None,
    cluster: str = "cluster-id",
    topic_id: str = "topic-id",
    place: TopicPartition = PLACE,
    book: OffsetBook = GROUP,
) -> SourceSide:
    ids = {place.topic: topic_id} if topic_id else {}
    return SourceSide(cluster, ids, {} if offset is None else {place: offset}, book)


def judged(position: SourcePosition | None, side: SourceSide) -> Evidence:
    return decide_positions([PLACE], {} if position is None else {PLACE: position}, side, "pos")


def test_the_mark_is_fixed_for_ever() -> None:
    assert mark("legacy-mm-positions.g.s.t.internal") == "exactly-once:legacy-mm-positions.g.s.t.internal"


GO_ON = Evidence({PLACE: 100}, {}, NONE)
CERTAIN = {
    "a position, and no offset": (POSITION, source(None), GO_ON),
    "our offset is behind the position": (POSITION, source(CommittedOffset(90, OURS)), GO_ON),
    "our offset is the position": (POSITION, source(CommittedOffset(100, OURS)), GO_ON),
    "the offset that was adopted": (ADOPTED, source(CommittedOffset(60, "")), GO_ON),
    "nothing was copied since the adoption": (
        POSITION._replace(adopted=100),
        source(CommittedOffset(100, "any text")),
        GO_ON,
    ),
    "our offset came after the adoption": (ADOPTED, source(CommittedOffset(80, OURS)), GO_ON),
    "no position, and a plain offset": (None, source(CommittedOffset(60, "")), Evidence({}, {PLACE: 60}, NONE)),
    "a plain offset of another tool": (None, source(CommittedOffset(0, "xyz")), Evidence({}, {PLACE: 0}, NONE)),
    "neither": (None, source(None), Evidence({}, {}, frozenset({PLACE}))),
    "a retired position, and a plain offset": (
        RETIRED,
        source(CommittedOffset(170, "")),
        Evidence({}, {PLACE: 170}, NONE),
    ),
    "retired, and the source was replaced since": (
        RETIRED,
        source(CommittedOffset(3, ""), "other", "other"),
        Evidence({}, {PLACE: 3}, NONE),
    ),
    "a position of brokers without ids": (
        POSITION._replace(topic_id="", cluster=""),
        source(None),
        GO_ON,
    ),
    "brokers without ids": (POSITION, source(None, "", ""), GO_ON),
}
DOUBTFUL = {
    "somebody copied in another mode": (
        POSITION,
        source(CommittedOffset(170, "")),
        "the target's position is 100, and exactly once did not commit the group's offset 170: somebody "
        f"copied in another mode since, or moved the group; {ADOPT}, or {RETIRE}",
    ),
    "the group was moved to the position": (
        POSITION,
        source(CommittedOffset(100, "")),
        "the target's position is 100, and exactly once did not commit the group's offset 100: somebody "
        f"copied in another mode since, or moved the group; {ADOPT}, or {RETIRE}",
    ),
    "the group was moved after the adoption": (
        ADOPTED,
        source(CommittedOffset(0, "")),
        "the target's position is 100, and exactly once did not commit the group's offset 0: somebody "
        f"copied in another mode since, or moved the group; {ADOPT}, or {RETIRE}",
    ),
    "the last positions are lost": (
        POSITION,
        source(CommittedOffset(101, OURS)),
        "exactly once has committed offset 101 for the group, but the target's position is only 100: later ones are "
        f"lost; {ADOPT}",
    ),
    "the position is lost": (
        None,
        source(CommittedOffset(90, OURS)),
        "exactly once has committed offset 90 for the group, but the target has no position: it is lost, or this is "
        f"another target; {ADOPT}, and what was copied beyond it comes twice",
    ),
    "the group copies for another flow": (
        None,
        source(CommittedOffset(90, mark("other"))),
        "the group's offset 90 comes from another flow of exactly once, with positions topic 'other', and this one "
        f"has pos: {ADOPT}",
    ),
    "the group has copied for another flow since": (
        POSITION,
        source(CommittedOffset(100, mark("other\n"))),
        "the group's offset 100 comes from another flow of exactly once, with positions topic 'other\\n', and this one "
        f"has pos: {ADOPT}",
    ),
    "another source cluster": (
        POSITION,
        source(None, "other"),
        "its position 100 is of source cluster cluster-id, and this is other: look at bootstrap.servers, or, if the "
        f"cluster was replaced, {MOVE}",
    ),
    "another source cluster, where the group has an offset": (
        POSITION,
        source(CommittedOffset(7, ""), "other"),
        "its position 100 is of source cluster cluster-id, and this is other: look at bootstrap.servers, or, if the "
        f"cluster was replaced, {ADOPT}",
    ),
    "the topic was made anew": (
        POSITION,
        source(CommittedOffset(90, OURS), topic_id="new"),
        "its position 100 is of a topic with id topic-id, and now it has id new: the topic was made anew; "
        f"{MOVE}, to 0 for all records of the new topic",
    ),
    "retired, and the group's offset is gone": (
        RETIRED,
        source(None),
        f"exactly once was switched off at offset 100, and the group's offset is gone since: {MOVE}",
    ),
    "retired, but not quiet": (
        RETIRED,
        source(CommittedOffset(120, OURS)),
        f"exactly once was switched off at offset 100, but has committed 120 for the group since: {RETIRE}",
    ),
}


@pytest.mark.parametrize(("position", "side", "wanted"), CERTAIN.values(), ids=CERTAIN)
def test_a_claim_goes_on_or_adopts(position: SourcePosition | None, side: SourceSide, wanted: Evidence) -> None:
    assert judged(position, side) == wanted


@pytest.mark.parametrize(("position", "side", "why"), DOUBTFUL.values(), ids=DOUBTFUL)
def test_a_claim_is_refused_with_the_command_that_helps(
    position: SourcePosition | None, side: SourceSide, why: str
) -> None:
    with pytest.raises(Undecided) as refusal:
        judged(position, side)
    assert str(refusal.value) == f"exactly once cannot go on with orders-3: {why}"


@pytest.mark.parametrize(
    ("position", "offset", "told"),
    [
        (POSITION, (170, ""), "exactly once did not commit offset 170 in topic mm2: somebody copied in another mode"),
        (POSITION, (170, OURS), "exactly once has committed offset 170 in topic mm2, but the target's position is"),
        (POSITION, (90, mark("other")), "offset 90 in topic mm2 comes from another flow of exactly once"),
        (RETIRED, None, "and the offset in topic mm2 is gone since"),
        (
            RETIRED,
            (110, OURS),
            "but has committed 110 in topic mm2 since: legacy-mm exactly-once retire gives topic mm2",
        ),
        (None, (110, OURS), "exactly once has committed offset 110 in topic mm2, but the target has no position"),
    ],
)
def test_a_flow_of_mirror_maker_2_s_file_is_told_of_its_topic(
    position: SourcePosition | None, offset: tuple[int, str] | None, told: str
) -> None:
    side = source(None if offset is None else CommittedOffset(*offset), book=OffsetBook("mm2"))
    with pytest.raises(Undecided) as refusal:
        judged(position, side)
    assert told in str(refusal.value)
    assert "group" not in str(refusal.value)


def test_one_partition_in_doubt_refuses_its_bundle() -> None:
    places = [TopicPartition("orders", number) for number in (3, 27, 51)]
    side = SourceSide(
        "c", {}, {places[0]: CommittedOffset(7, ""), **dict.fromkeys(places[1:], CommittedOffset(5, OURS))}, GROUP
    )
    with pytest.raises(Undecided, match=r"^exactly once cannot go on with orders-27 \(and 1 more of its bundle\): "):
        decide_positions(places, {}, side, "pos")


def test_partitions_of_others_are_not_weighed() -> None:
    assert decide_positions([], {PLACE: POSITION}, source(CommittedOffset(170, "")), "pos") == Evidence({}, {}, NONE)


OFFSETS = st.integers(0, 5)
METADATA = st.sampled_from(["", OURS, mark("other")])
FOUND = st.builds(
    SourcePosition,
    OFFSETS,
    st.just(0),
    st.sampled_from(["", "a", "b"]),
    st.sampled_from(["", "a", "b"]),
    st.just(0),
    st.none() | OFFSETS,
    st.booleans(),
)


@given(st.none() | FOUND, st.none() | st.builds(CommittedOffset, OFFSETS, METADATA), *[st.sampled_from(["", "a"])] * 2)
def test_nothing_is_guessed(
    position: SourcePosition | None, offset: CommittedOffset | None, cluster: str, topic_id: str
) -> None:
    """Whatever is there: a position counts as it is, what is adopted is a plain offset of the group, and
    auto.offset.reset has a say only where nobody has copied.
    """
    try:
        positions, adopted, unset = judged(position, source(offset, cluster, topic_id))
    except Undecided as refusal:
        assert "legacy-mm exactly-once " in str(refusal)
        return
    assert len(positions) + len(adopted) + len(unset) == 1
    for begin in positions.values():
        assert position is not None
        assert (begin, position.retired) == (position.next, False)
    for begin in adopted.values():
        assert offset == CommittedOffset(begin, "")
        assert position is None or position.retired
    assert not unset or (position is None and offset is None)


FLOW = FlowRecord(24, "cluster-id", 0)
FLOWS = [
    (None, ""),
    (FLOW, ""),
    (FLOW._replace(cluster=""), ""),
    (
        FLOW._replace(bundles=12),
        "positions topic pos has the positions of 12 bundles, and this release has 24: call legacy-mm exactly-once "
        "retire of the release that made them, then delete the topic; the next start adopts the group's offsets",
    ),
    (
        FLOW._replace(cluster="other"),
        "positions topic pos has the positions of source cluster other, and this is cluster-id: give this source "
        "another source.cluster.alias, or, if the cluster was replaced, legacy-mm exactly-once adopt --replaced other "
        "takes the group's offsets as the positions, and legacy-mm exactly-once move --replaced other sets them",
    ),
]


@pytest.mark.parametrize(("found", "why"), FLOWS)
def test_a_flow_goes_on_with_its_own_positions_only(found: FlowRecord | None, why: str) -> None:
    assert flow_doubt(found, 24, "cluster-id", "pos", GROUP) == why


@pytest.mark.parametrize(("replaced", "is_own"), [("other", True), ("third", False), ("", False)])
def test_the_positions_of_a_replaced_cluster_are_taken_over_where_a_person_names_it(
    replaced: str, is_own: bool
) -> None:
    assert (flow_doubt(FLOW._replace(cluster="other"), 24, "cluster-id", "pos", GROUP, replaced) == "") is is_own


STRANGERS = {
    "another cluster": (POSITION._replace(cluster="other"), source(None), "is of source cluster other, and this is"),
    "a topic that was made anew": (
        POSITION._replace(topic_id="old"),
        source(None, POSITION.cluster, "new"),
        "is of a topic with id old, and now it has id new: the topic was made anew",
    ),
    "another flow's group": (
        POSITION,
        source(CommittedOffset(5, mark("theirs"))),
        "comes from another flow of exactly",
    ),
}


@pytest.mark.parametrize(("position", "side", "why"), STRANGERS.values(), ids=STRANGERS)
def test_a_command_takes_no_positions_of_others(position: SourcePosition, side: SourceSide, why: str) -> None:
    with pytest.raises(Undecided, match=rf"^orders-3: .*{why}.*; nothing was changed$"):
        require_own({PLACE: position}, side, "pos")


def test_a_command_takes_its_own_positions() -> None:
    """Whatever else is in doubt: it is called because of that."""
    require_own({PLACE: POSITION}, source(CommittedOffset(1 << 40, "")), "pos")


def test_a_position_that_was_set_back_is_certain_while_the_group_has_its_offset_still() -> None:
    """The source's log had parted from what was copied. Beyond that offset positions are lost."""
    back = POSITION._replace(next=90, adopted=100)
    assert judged(back, source(CommittedOffset(100, OURS))).positions == {PLACE: 90}
    with pytest.raises(Undecided, match="position is only 90: later ones are lost"):
        judged(back, source(CommittedOffset(101, OURS)))


MEMBERS = [GroupMember("mm-1", "/10.0.0.7"), GroupMember("mm-0", "/10.0.0.8")]


@pytest.mark.parametrize(("protocol", "members"), [("", []), ("range", []), ("ours", MEMBERS), ("", MEMBERS)], ids=repr)
def test_a_group_can_be_joined(protocol: str, members: list[GroupMember]) -> None:
    assert group_doubt("g", protocol, "ours", members) == ""


@pytest.mark.parametrize("protocol", ["range", "roundrobin", "uniform"])
def test_a_group_with_members_of_another_mode_is_refused_by_their_hosts(protocol: str) -> None:
    assert group_doubt("g", protocol, "ours", MEMBERS) == (
        f"group g has members that do not copy exactly once (protocol {protocol}): mm-0 on 10.0.0.8, mm-1 on 10.0.0.7; "
        "stop them, each with TERM so that it commits what it has copied, then start again"
    )
