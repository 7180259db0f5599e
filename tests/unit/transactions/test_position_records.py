"""The records of the positions topic: their bytes, for ever, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.base.errors import StreamFailure
from legacy_mm.base.model import TopicPartition
from legacy_mm.transactions.bundle import FLOW, bundle_of
from legacy_mm.transactions.position_records import (
    Claim,
    FlowRecord,
    PositionsRecord,
    SourcePosition,
    decode,
    encode_claim,
    encode_flow,
    encode_position,
    read_bundle,
)

ORDERS = TopicPartition("orders", 3)
"""Of bundle 17."""
POSITION = SourcePosition(1017, 4, "lq5wGW8eRfyyDGbVnBXNLA", "J5bDtTlWRZWJ8yz3Rf1kVw", 1_764_172_110_000)
CLAIM = Claim(17, 24, "J5bDtTlWRZWJ8yz3Rf1kVw", "mirror-1", 5, 1_764_172_110_000)
FLOW_RECORD = FlowRecord(24, "J5bDtTlWRZWJ8yz3Rf1kVw", 1_764_172_110_000)
KEY = b'{"v":1,"kind":"position","topic":"orders","partition":3}'
VALUE = (
    b'{"v":1,"next":1017,"leader_epoch":4,"topic_id":"lq5wGW8eRfyyDGbVnBXNLA",'
    b'"cluster":"J5bDtTlWRZWJ8yz3Rf1kVw","at":1764172110000,"adopted":null,"retired":false}'
)
GOLDEN = [
    ((ORDERS, POSITION), encode_position(ORDERS, POSITION), (KEY, VALUE)),
    (
        (ORDERS, POSITION._replace(leader_epoch=-1, topic_id="", cluster="", adopted=0, retired=True)),
        encode_position(ORDERS, POSITION._replace(leader_epoch=-1, topic_id="", cluster="", adopted=0, retired=True)),
        (
            KEY,
            b'{"v":1,"next":1017,"leader_epoch":-1,"topic_id":"","cluster":"","at":1764172110000,'
            b'"adopted":0,"retired":true}',
        ),
    ),
    ((ORDERS, None), encode_position(ORDERS, None), (KEY, None)),
    (
        CLAIM,
        encode_claim(CLAIM),
        (
            b'{"v":1,"kind":"claim","bundle":17}',
            b'{"v":1,"bundles":24,"cluster":"J5bDtTlWRZWJ8yz3Rf1kVw","host":"mirror-1","generation":5,'
            b'"at":1764172110000}',
        ),
    ),
    (
        CLAIM._replace(bundle=FLOW, host="wörk"),
        encode_claim(CLAIM._replace(bundle=FLOW, host="wörk")),
        (
            b'{"v":1,"kind":"claim","bundle":-1}',
            b'{"v":1,"bundles":24,"cluster":"J5bDtTlWRZWJ8yz3Rf1kVw","host":"w\\u00f6rk","generation":5,'
            b'"at":1764172110000}',
        ),
    ),
    (
        FLOW_RECORD,
        encode_flow(FLOW_RECORD),
        (
            b'{"v":1,"kind":"flow"}',
            b'{"v":1,"bundles":24,"cluster":"J5bDtTlWRZWJ8yz3Rf1kVw","at":1764172110000}',
        ),
    ),
]
REFUSED: dict[tuple[bytes | None, bytes | None], str] = {
    (None, None): "its key is empty",
    (b"orders-3", VALUE): "its key is no JSON object with a version",
    (KEY.replace(b'"v":1', b'"v":2'), VALUE): "its key has another version than 1",
    (KEY.replace(b'"position"', b'"jump"'), VALUE): "its key is of another kind",
    (KEY.replace(b'"position"', b'["position"]'), VALUE): "its key is of another kind",
    (KEY.replace(b'"kind":"position",', b""), VALUE): "its key is of another kind",
    (KEY.replace(b"3", b"-3"), VALUE): "its key has an impossible partition",
    (KEY.replace(b"3", b"2147483648"), VALUE): "its key has an impossible partition",
    (KEY.replace(b":3", b": 3"), VALUE): "its key is not written as this program writes it",
    (KEY, b""): "its value is no JSON object with a version",
    (KEY, VALUE.replace(b'"v":1', b'"v":7')): "its value has another version than 1",
    (KEY, VALUE.replace(b'"retired":false', b'"from":2')): "its value has the field 'from'",
    (KEY, VALUE.replace(b"1017", b"-2")): "its value has an impossible next",
    (KEY, VALUE.replace(b"false", b"0")): "its value has an impossible retired",
    (b'{"v":1,"kind":"claim","bundle":17}', None): "its value is empty",
    (b'{"v":1,"kind":"flow"}', None): "its value is empty",
    (b'{"v":1,"kind":"flow"}', b'{"v":1,"bundles":0,"cluster":"","at":0}'): "its value has an impossible bundles",
}


@pytest.mark.parametrize(("record", "encoded", "golden"), GOLDEN, ids=lambda each: repr(each)[:40])
def test_the_bytes_are_fixed_for_ever(record, encoded: PositionsRecord, golden: PositionsRecord) -> None:
    """A release that writes others cannot read what is there: then give it another version."""
    assert encoded == golden
    assert decode(*golden) == record


@pytest.mark.parametrize(("key", "value"), REFUSED, ids=repr)
def test_a_foreign_record_is_refused_with_its_reason(key: bytes | None, value: bytes | None) -> None:
    with pytest.raises(ValueError) as refusal:
        decode(key, value)
    assert str(refusal.value) == REFUSED[key, value]


@given(st.none() | st.binary(max_size=60), st.none() | st.binary(max_size=60))
def test_a_record_of_any_bytes_is_refused(key: bytes | None, value: bytes | None) -> None:
    with pytest.raises(ValueError):
        decode(key, value)


OFFSETS = st.integers(0, 2**63 - 1)
IDS = st.text("abcXYZ019_-", max_size=22)
POSITIONS = st.builds(
    SourcePosition, OFFSETS, st.integers(-1, 2**31 - 1), IDS, IDS, OFFSETS, st.none() | OFFSETS, st.booleans()
)


@given(st.text("az.-_", min_size=3, max_size=9), st.integers(0, 2**31 - 1), POSITIONS)
def test_what_is_written_can_be_read(topic: str, number: int, position: SourcePosition) -> None:
    partition = TopicPartition(topic, number)
    assert decode(*encode_position(partition, position)) == (partition, position)


# A partition of the positions topic

PLACE = TopicPartition("positions", 17)


def numbered(*entries: PositionsRecord) -> list[tuple[int, bytes, bytes | None]]:
    return [(3 * number, *entry) for number, entry in enumerate(entries)]


def test_the_last_record_of_a_key_counts() -> None:
    other = TopicPartition("orders", 27)
    log = read_bundle(
        PLACE,
        24,
        numbered(
            encode_position(ORDERS, POSITION),
            encode_claim(CLAIM),
            encode_position(other, POSITION),
            encode_position(ORDERS, POSITION._replace(next=2000)),
            encode_claim(CLAIM._replace(host="mirror-2")),
            encode_position(other, None),
        ),
    )
    assert log.positions == {ORDERS: POSITION._replace(next=2000)}
    assert log.owner == CLAIM._replace(host="mirror-2")
    assert log.flow is None


def test_what_compaction_would_take_away_is_not_looked_at() -> None:
    """Else it would depend on the cleaner whether a bundle can be claimed."""
    key, value = encode_position(ORDERS, POSITION)
    rows = [(0, key, b"{ not ours"), (3, key, value)]
    assert read_bundle(PLACE, 24, rows).positions == {ORDERS: POSITION}
    with pytest.raises(StreamFailure, match="at offset 6"):
        read_bundle(PLACE, 24, [*rows, (6, key, b"{ not ours")])


def test_partition_0_has_the_flow_and_the_positions_of_its_bundle() -> None:
    source = next(
        each for each in (TopicPartition("orders", number) for number in range(24)) if bundle_of(each, 24) == 0
    )
    flow_claim, claim = CLAIM._replace(bundle=FLOW), CLAIM._replace(bundle=0)
    entries = [encode_claim(flow_claim), encode_flow(FLOW_RECORD), encode_claim(claim)]
    log = read_bundle(
        TopicPartition("positions", 0),
        24,
        numbered(*entries, encode_claim(flow_claim), encode_position(source, POSITION)),
    )
    assert (log.flow, log.owner, log.positions) == (FLOW_RECORD, claim, {source: POSITION})


def test_nothing_is_read_of_an_empty_partition() -> None:
    log = read_bundle(PLACE, 24, [])
    assert (log.positions, log.flow, log.owner) == ({}, None, None)


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        (encode_flow(FLOW_RECORD), "only partition 0 has a flow record"),
        (encode_claim(CLAIM._replace(bundle=16)), "it is a claim of bundle 16"),
        (encode_claim(CLAIM._replace(bundle=FLOW)), "it is a claim of bundle -1"),
        (encode_claim(CLAIM._replace(bundles=12)), "it is a claim by an owner that has 12 bundles, not 24"),
        (encode_position(TopicPartition("orders", 4), POSITION), "orders-4 belongs to bundle 18 of 24"),
        (encode_position(TopicPartition("orders", 4), None), "orders-4 belongs to bundle 18 of 24"),
        ((b"x", b"y"), "its key is no JSON object with a version"),
    ],
)
def test_a_record_that_no_owner_of_the_bundle_writes_is_refused(entry: PositionsRecord, why: str) -> None:
    with pytest.raises(StreamFailure) as refusal:
        read_bundle(PLACE, 24, numbered(encode_position(ORDERS, POSITION), entry))
    assert str(refusal.value) == (
        "partition positions-17 of the positions topic has a record at offset 3 that this release of legacy_mm did not "
        f"write: {why}; nothing is copied until it is clear who wrote it"
    )
