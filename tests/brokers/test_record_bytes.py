"""Batches that we write are read by Kafka's own `MemoryRecords`, and its murmur2 is ours."""

from __future__ import annotations

import base64
import random
import subprocess
from pathlib import Path

import pytest

from compat.laboratory.jars import kafka_jars
from compat.laboratory.releases import CURRENT, OLD
from legacy_mm.protocol import records
from legacy_mm.protocol.compression import Codec
from legacy_mm.protocol.record_batch import ProducerStamp, RecordBatch
from legacy_mm.protocol.records import Placement, recompress, regroup
from tests.fixtures.java_programs import java_command
from tests.unit.protocol.batches import NOW, Row, build, changed, decode, records_of

ORACLE = Path(__file__).parent / "java" / "RecordsOracle.java"
PACKAGE = "org.apache.kafka.common.record"
PACKAGES = {OLD: PACKAGE, CURRENT: f"{PACKAGE}.internal"}
LEVELS: dict[Codec, tuple[int | None, ...]] = {
    Codec.NONE: (None,),
    Codec.GZIP: (None, 1, 9),
    Codec.SNAPPY: (None,),
    Codec.LZ4: (None, 1, 12),
    Codec.ZSTD: (None, -3, 19),
}

pytestmark = pytest.mark.brokers


def in_java(release: str, batches: list[RecordBatch]) -> list[tuple[list[Row], list[int]]]:
    """Per batch, its records and the murmur2 of their keys, as Kafka's classes of that release read them."""
    words = "".join(base64.b64encode(batch.buffer).decode() + "\n" for batch in batches)
    text = ORACLE.read_text().replace(f"{PACKAGE}.", f"{PACKAGES[release]}.")
    command = java_command(ORACLE.stem, text, kafka_jars(release))
    done = subprocess.run(command, input=words, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    found = []
    for answer in done.stdout.split("end\n")[:-1]:
        lines = [line.split(" ") for line in answer.splitlines()]
        found.append(([row(line) for line in lines], [int(line[4]) for line in lines]))
    return found


def row(words: list[str]) -> Row:
    names, values = words[5::2], words[6::2]
    headers = [((data(name) or b"").decode(), data(value)) for name, value in zip(names, values, strict=True)]
    return Row(int(words[0]), int(words[1]), data(words[2]), data(words[3]), tuple(headers))


def data(word: str) -> bytes | None:
    return None if word == "null" else base64.b64decode(word[1:])


def sample(dice: random.Random, size: int) -> list[Row]:
    """Records of every shape; the value of the first is longer than a block of snappy and of LZ4."""
    made = []
    for offset in range(size):
        key = dice.choice([None, b"", dice.randbytes(dice.randrange(1, 40))])
        value = dice.choice([None, b"", dice.randbytes(dice.randrange(1, 400))]) if offset else b"abcdefgh" * 20_000
        headers = [("größe", b"x"), ("", None)][: dice.randrange(3)]
        made.append(Row(offset, NOW + dice.randrange(-(1 << 34), 1 << 34), key, value, tuple(headers)))
    return made


@pytest.mark.parametrize("release", PACKAGES)
def test_kafka_reads_what_we_wrote(release: str) -> None:
    dice = random.Random(11)
    batches = []
    for codec, levels in LEVELS.items():
        made = sample(dice, 200)
        plain = build(made)
        recompressed = [recompress(plain.header, plain.payload, codec, level) for level in levels]
        regrouped = regroup(plain.header, plain.payload, Placement.by_key_spreading(4, first=1), codec=codec)
        holes = build([one for one in made if dice.random() < 0.7], codec=codec, attributes=0x08)
        (dense,) = regroup(holes.header, records_of(holes), Placement.all_to(0))
        stamped = changed(build(made, codec=codec, attributes=0x50), producer_id=8).restamp(
            ProducerStamp(1 << 40, 2, 77)
        )
        batches += [*recompressed, *(one.batch for one in regrouped), dense.batch, stamped]
    answers = in_java(release, batches)
    assert len(answers) == len(batches)
    for batch, (found, hashes) in zip(batches, answers, strict=True):
        assert found == decode(batch)
        ours = [0 if one.key is None else records.murmur2(one.key) for one in found]
        assert [number & 0xFFFFFFFF for number in hashes] == ours
