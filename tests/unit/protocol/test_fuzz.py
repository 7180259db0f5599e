"""Changed bytes, in memory that ends at a page nobody may touch: our error or a sound answer, and always an end.

Ten seconds of them, each time others, in CI twice that, in `bin/test all` a minute; LEGACY_MM_FUZZ_SECONDS sets the
time. A long run: compat/reports/fuzz.md.
"""

from __future__ import annotations

import ctypes
import itertools
import mmap
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import CorruptRecords
from legacy_mm.protocol.compression import Codec
from legacy_mm.protocol.kernels import record_kernels as kernels
from legacy_mm.protocol.message_set import HeadersRefused, MessageSets, message_set, whole_messages
from legacy_mm.protocol.record_batch import CONTROL_BIT, HEADER_SIZE, Header, RecordBatch, assemble
from legacy_mm.protocol.record_set import CommittedOnly, RecordSet, Tail, read_batches
from legacy_mm.protocol.records import Placement, first_key, measure, regroup, survey
from tests.unit.protocol.batches import NOW, ROOM, Row, build, decompress_little, records_of

PAGES = 64
PROT_NONE = 0
MOST_RECORDS = (1 << 31) - 1

SECONDS = float(os.environ.get("LEGACY_MM_FUZZ_SECONDS", "10"))
PORTION = 200
fuzz = settings(
    max_examples=PORTION,
    derandomize=False,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
GOLDEN = Path(__file__).parent / "golden"
LOGS = [path.read_bytes() for path in sorted(GOLDEN.glob("*.log"))]
BATCHES = [batch for log in LOGS for batch in read_batches(memoryview(log)) if isinstance(batch, RecordBatch)]
MESSAGES = [path.read_bytes() for path in sorted((GOLDEN / "messages").glob("*.log"))]
SMALL = [batch for batch in BATCHES if len(records_of(batch)) < 4_096]

Change = tuple[str, int, bytes]
_telling = [b"\0", b"\x01", b"\x7f", b"\x80", b"\xff", b"\xff" * 5, b"\xfe\xff\xff\xff\x0f", b"\x80" * 10, b"\xff" * 8]
changes: st.SearchStrategy[list[Change]] = st.lists(
    st.tuples(
        st.sampled_from(["write", "insert", "delete", "cut", "repeat"]),
        st.integers(0, 1 << 12),
        st.sampled_from(_telling) | st.binary(min_size=1, max_size=8),
    ),
    max_size=6,
)


class Fenced:
    """Pages with one that must not be touched on either side."""

    def __init__(self) -> None:
        self._map = mmap.mmap(-1, (PAGES + 2) * mmap.PAGESIZE)
        self._pages = memoryview(self._map)[mmap.PAGESIZE : -mmap.PAGESIZE]
        start = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        for page in (0, PAGES + 1):
            address = ctypes.c_void_p(start + page * mmap.PAGESIZE)
            assert ctypes.CDLL(None).mprotect(address, mmap.PAGESIZE, PROT_NONE) == 0

    def holding(self, data: bytes, *, at_end: bool) -> memoryview:
        """A copy of `data` that touches the one fence or the other."""
        begin = len(self._pages) - len(data) if at_end else 0
        view = self._pages[begin : begin + len(data)]
        view[:] = data
        return view


FENCED, OUT = Fenced(), Fenced()


def mutated(data: bytes, changes: list[Change]) -> bytes:
    out = bytearray(data)
    for kind, place, what in changes:
        at = place % (len(out) + 1)
        if kind == "write":
            out[at : at + len(what)] = what
        elif kind == "insert":
            out[at:at] = what
        elif kind == "delete":
            del out[at : at + len(what)]
        elif kind == "cut":
            del out[at:]
        else:
            out += out[at:][: 8 * len(what)]
    return bytes(out[: PAGES * mmap.PAGESIZE])


@contextmanager
def our_error_only() -> Iterator[None]:
    try:
        yield
    except CorruptRecords as error:
        assert "\n" not in str(error)


def use_decompressed(batch: RecordBatch) -> None:
    use(batch.header, decompress_little(batch.header.codec, batch.payload))


def use(header: Header, records: memoryview) -> None:
    """Everything the engine does with a batch; what a survey accepts, a regrouping keeps."""
    with our_error_only():
        first_key(header, records)
    with our_error_only():
        assert 0 <= measure(header, records, header.base_offset + 1).value_bytes <= len(records)
    for magic in (0, 1):
        with our_error_only(), suppress(HeadersRefused):
            use_messages(memoryview(message_set(assemble(header, records), decompress_little, magic)), ROOM, check=True)
    with our_error_only():
        found = survey(header, records, 1, 3)
        for placement in (Placement.all_to(1), Placement.by_key_spreading(3, first=2)):
            new = regroup(header, records, placement, codec=Codec.NONE)
            assert sum(one.batch.header.records for one in new) == found.records
            for one in new:
                again = survey(one.batch.header, one.batch.payload, one.partition, 0)
                assert (again.records, again.dense) == (one.batch.header.records, True)
                one.batch.check_crc()


def use_messages(data: memoryview, most_bytes: int, *, check: bool) -> None:
    """Batches that are made of messages are sound."""
    found = whole_messages(data)
    for batch, _ in MessageSets(check_crcs=check).batches(data[: found.size], most_bytes):
        batch.header.check()
        batch.check_crc()
        assert survey(batch.header, batch.payload, 0, 0).records == batch.header.records > 0


@fuzz
@given(st.sampled_from(MESSAGES), changes, st.booleans(), st.booleans(), st.sampled_from([0, 500, ROOM]))
def changed_messages(log: bytes, changes: list[Change], at_end: bool, check: bool, most_bytes: int) -> None:
    with our_error_only():
        use_messages(FENCED.holding(mutated(log, changes), at_end=at_end), most_bytes, check=check)


@fuzz
@given(st.sampled_from(SMALL), changes, st.booleans(), st.integers(-1, 2) | st.integers(0, MOST_RECORDS))
def changed_records(batch: RecordBatch, changes: list[Change], at_end: bool, more: int) -> None:
    header = batch.header._replace(records=min(batch.header.records + more, MOST_RECORDS))
    use(header, FENCED.holding(mutated(bytes(records_of(batch)), changes), at_end=at_end))


@fuzz
@given(st.sampled_from(LOGS), changes, st.booleans())
def changed_logs(log: bytes, changes: list[Change], at_end: bool) -> None:
    committed = CommittedOnly([(5, 3), (6, 0)], decompress_little)
    with our_error_only():
        for item in read_batches(FENCED.holding(mutated(log, changes), at_end=at_end)):
            if isinstance(item, RecordBatch):
                for inspection in (RecordBatch.check_crc, committed.admits, use_decompressed):
                    with our_error_only():
                        inspection(item)


@fuzz
@given(st.sampled_from(LOGS), changes, st.booleans(), st.sampled_from([0, 100, 4_096]), st.integers(HEADER_SIZE, 4_096))
def changed_record_sets(log: bytes, changes: list[Change], at_end: bool, checked: int, room: int) -> None:
    """What is joined fits into its memory, and holds as many records as it says."""
    data = FENCED.holding(mutated(log, changes), at_end=at_end)
    record_set = RecordSet.read(data)
    before = list(itertools.takewhile(lambda item: isinstance(item, RecordBatch), sound(data)))
    assert list(record_set) == before
    at = 0
    while at < len(record_set.data):
        found, out = kernels.FoundBatches(5), OUT.holding(bytes(room), at_end=at_end)
        codec = record_set.batch(at).header.codec
        number, after = kernels.find_batches(record_set.data, at, codec, 4_096, CONTROL_BIT, checked, 9_999, found)
        joined, count, base, latest, end = kernels.join_found(record_set.data, found, number, out)
        assert joined <= number <= 5
        if joined:
            _, _, _, _, offsets, last_deltas, *_ = found.columns
            delta = offsets[joined - 1] + last_deltas[joined - 1] - offsets[0]
            header = Header.new(count, base, latest)._replace(base_offset=offsets[0], last_offset_delta=delta)
            assert survey(header, out[HEADER_SIZE:end], 0, 0).records == count
        at = after if number else at + len(record_set.batch(at).buffer)


def sound(data: memoryview) -> Iterator[RecordBatch | Tail]:
    """The batches and the tail before the first fault."""
    with suppress(CorruptRecords):
        yield from read_batches(data)


@pytest.mark.parametrize("changed", [changed_records, changed_logs, changed_record_sets, changed_messages])
def test_changed_bytes_are_an_error_of_ours_or_a_sound_answer(changed: Callable[[], None]) -> None:
    part = Deadline.after(SECONDS / 4)
    tried = 0
    while not part.expired():
        changed()
        tried += PORTION
    print(f"{changed.__name__}: {tried:,} inputs")


def test_the_fence_is_real() -> None:
    inspection = (
        "import ctypes as c; from tests.unit.protocol.test_fuzz import FENCED; v = FENCED.holding(b'x', at_end={})"
    )
    inspection += "; c.string_at(c.addressof(c.c_char.from_buffer(v)) + {}, 1)"
    for at_end, step, code in ((True, 0, 0), (True, 1, -signal.SIGSEGV), (False, -1, -signal.SIGSEGV)):
        done = subprocess.run([sys.executable, "-c", inspection.format(at_end, step)], check=False, capture_output=True)
        assert done.returncode == code, done.stderr


@pytest.mark.parametrize("at_end", [True, False])
@pytest.mark.parametrize("codec", Codec)
def test_a_sound_batch_passes_inside_the_fence(codec: Codec, at_end: bool) -> None:
    made = [Row(at, NOW, b"key", b"value" * at, (("name", None),) * at) for at in range(5)]
    fenced = RecordBatch.read(FENCED.holding(bytes(build(made, codec=codec).buffer), at_end=at_end))
    fenced.check_crc()
    records = FENCED.holding(bytes(records_of(fenced)), at_end=at_end)
    assert survey(fenced.header, records, 0, 3).records == 5
    use(fenced.header, records)
