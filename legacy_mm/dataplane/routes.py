"""Routes of source batches to the target, which keep the target log as the legacy tool would have written it.

The legacy tool sent records without a partition: a key decides by its hash, a null key goes anywhere. A batch goes on
as it is when all its keyed records belong where it would go anyway; else its records are regrouped. Null keys stay with
their batch if the target has no more partitions than the source and this one is among them, else they are spread.

With `preserve.partitions` no record is read: a batch goes on, compressed as it is, if its header allows it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from legacy_mm.base.clock import epoch_ms
from legacy_mm.base.kafka_clients import ProduceSettings
from legacy_mm.handlers.batches import MadeRecords
from legacy_mm.protocol import error_codes, records
from legacy_mm.protocol.compression import Codec, Decompressor
from legacy_mm.protocol.record_batch import HEADER_SIZE, Header, RecordBatch
from legacy_mm.protocol.record_set import decompress_records
from legacy_mm.protocol.records import NO_WISHES, Contents, Placement, RecordSurvey, SourceOffsets
from legacy_mm.protocol.single_record import SingleRecord, batch_of, first_record


class Placed(NamedTuple):
    """A batch for one target partition."""

    partition: int
    batch: RecordBatch
    offsets: SourceOffsets
    """The offsets of its records at the source."""


@dataclass(frozen=True, slots=True)
class RouteOptions:
    """The settings in the user's files for new batches."""

    codec: Codec | None
    """None: each batch keeps its own."""
    level: int | None
    limit: int
    """The most bytes of a record, and of a batch of several (`max.request.size`)."""
    measure: bool = False
    """True if the contents of a batch that must be opened are measured."""
    hashes_keys: bool = True
    """False: every record is placed as one without a key, round robin."""
    records_may_wait: bool = False
    """True: the target says whether it takes a record beyond the limit, and a refused one keeps its place."""

    @classmethod
    def of(cls, produce: ProduceSettings, *, measure: bool, records_may_wait: bool = False) -> RouteOptions:
        """Return the options that a producer's settings say."""
        codec = None if produce.compression is None else Codec[produce.compression.upper()]
        return cls(
            codec,
            produce.compression_level,
            produce.max_request_bytes,
            measure,
            hashes_keys=produce.hashes_keys,
            records_may_wait=records_may_wait,
        )


class Route(NamedTuple):
    """One source batch on its way: batches and their target partitions, and what is too large to be sent."""

    batches: list[Placed]
    too_large: list[Placed]
    records: int
    next_offset: int
    """One past its last record at the source."""
    contents: Contents | None = None
    """The size of the records, if it was measured."""


class Router:
    """Makes target batches out of source batches. Its decompressor is for one thread."""

    def __init__(self, options: RouteOptions) -> None:
        self.decompress = Decompressor()
        self._options = options
        self._not_taken: set[Codec] = set()
        self._turns: defaultdict[str, int] = defaultdict(int)

    def route(
        self,
        topic: str,
        partition: int,
        batch: RecordBatch,
        begin: int,
        source: int,
        target: int,
        *,
        keeps_partition: bool = False,
        codec: Codec | None = None,
    ) -> Route:
        """Route a data batch, from offset `begin` on; `source` and `target` are numbers of partitions.

        `keeps_partition`: its records keep their partition number. `codec`: the codec to keep where the user's files
        set none; None: that of the batch. Raise CorruptRecords.
        """
        header = batch.header
        codec = self._chosen(codec, header.codec)
        if keeps_partition and codec is header.codec and self._passes_unseen(batch, begin):
            offsets = range(header.base_offset, header.next_offset)
            return Route([Placed(partition, batch, offsets)], [], header.records, header.next_offset)
        data = decompress_records(batch, self.decompress)
        found = records.survey(header, data, partition, 0 if keeps_partition else target)
        contents = records.measure(header, data, begin) if self._options.measure else None
        hashes_keys = self._options.hashes_keys
        stays = keeps_partition or (hashes_keys and partition < target and (target <= source or not found.keyless))
        next_offset = max(header.base_offset + found.last_offset_delta + 1, begin)
        if stays and not found.elsewhere and self._may_pass(header, found, begin):
            passed = batch
            if codec is not header.codec:
                passed = records.recompress(header, data, codec, self._options.level)
            if len(passed.buffer) <= self._options.limit or found.records == 1:
                offsets = range(header.base_offset, next_offset)
                return Route([Placed(partition, passed, offsets)], [], found.records, next_offset, contents)
        if keeps_partition:
            placement = Placement.all_to(partition)
        elif stays:
            placement = Placement.by_key(target, null_keys_to=partition)
        else:
            placement = self._spreading(topic, target, found)
        batches, too_large = self._regroup(header, data, placement, begin, found.largest, codec)
        sent = sum(placed.batch.header.records for placed in (*batches, *too_large))
        return Route(batches, too_large, sent, next_offset, contents)

    def route_made(
        self, made: MadeRecords, partition: int, source: int, target: int, codec: Codec
    ) -> tuple[list[Placed], list[Placed]]:
        """Return the batches of what a handler made of a batch of `partition`, and what is too large to be sent.

        `source`, `target` and `codec` as for `route`. A record for a partition that the topic has not is placed in
        partition `target`. Raise CorruptRecords.
        """
        codec = self._chosen(codec)
        found = records.survey(made.header, made.data, partition, 0, repeats=True)
        if self._options.hashes_keys and partition < target and (target <= source or not found.keyless):
            placement = Placement.by_key(target, null_keys_to=partition)
        else:
            placement = self._spreading(made.topic, target, found)
        return self._regroup(made.header, made.data, placement, 0, found.largest, codec, made.wishes)

    def _chosen(self, *wanted: Codec | None) -> Codec:
        """Return the codec of the user's files, else the first wanted one; none if the target does not take it."""
        codec = next(each for each in (self._options.codec, *wanted) if each is not None)
        return Codec.NONE if codec in self._not_taken else codec

    def _passes_unseen(self, batch: RecordBatch, begin: int) -> bool:
        """Return True if a batch can be passed on without reading its records.

        A record that is beyond the limit alone may be passed on in a compressed batch that is below it.
        """
        return len(batch.buffer) <= self._options.limit and _header_may_pass(batch.header, begin)

    def _may_pass(self, header: Header, survey: RecordSurvey, begin: int) -> bool:
        """Return True if a batch can be passed on without rewriting a record."""
        return survey.dense and survey.largest <= self._options.limit and _header_may_pass(header, begin)

    def _regroup(
        self,
        header: Header,
        data: memoryview,
        placement: Placement,
        begin: int,
        largest: int,
        codec: Codec,
        wishes: memoryview | None = None,
    ) -> tuple[list[Placed], list[Placed]]:
        """Regroup the records into new batches, and lone records that are too large for any.

        `wishes`: those of made records, several of which may have one source offset.
        """
        options = self._options
        if not header.has_time:
            header = header.with_append_time(epoch_ms())
        fits = largest <= options.limit or options.records_may_wait
        made = records.regroup(
            header,
            data,
            placement,
            from_offset=begin,
            codec=codec if fits else Codec.NONE,
            level=options.level,
            limit=options.limit,
            wishes=NO_WISHES if wishes is None else wishes,
            repeats=wishes is not None,
        )
        placed = [Placed(group.partition, group.batch, group.source_offsets) for group in made]
        if fits:
            return placed, []
        too_large = [lone for lone in placed if len(lone.batch.payload) > options.limit]
        fitting = [found for found in placed if len(found.batch.payload) <= options.limit]
        return [
            found._replace(batch=records.recompress(found.batch.header, found.batch.payload, codec, options.level))
            for found in fitting
        ], too_large

    def replace(
        self, refused: Placed, code: int, blamed: Mapping[int, str]
    ) -> tuple[list[Placed], list[tuple[Placed, str]]]:
        """Return the batches that replace a batch refused with this error, and the failed ones with a reason.

        Where the target does not take the codec, and the user's files name none, the records are sent uncompressed, now
        and later, as the legacy tool does. `blamed`: the places of the records because of which it was refused, each
        with the reason, where the target names them; else it is halved, and the reason is that of the batch, shown as
        "".
        """
        header = refused.batch.header
        if error_codes.refuses_the_codec(code) and self._options.codec is None and header.codec is not Codec.NONE:
            self._not_taken.add(header.codec)
            data = decompress_records(refused.batch, self.decompress)
            return self._parts(refused, data, Codec.NONE, self._options.limit), []
        if header.records == 1 or not error_codes.may_spare_some(code):
            return [], [(refused, "")]
        failed = {number: why for number, why in blamed.items() if 0 <= number < header.records}
        if failed and not self._options.records_may_wait:
            return self._without(refused, failed)
        return self.halve(refused), []

    def _without(self, refused: Placed, failed: Mapping[int, str]) -> tuple[list[Placed], list[tuple[Placed, str]]]:
        """Return the other records together, and each of the failed ones alone."""
        header = refused.batch.header
        every = records.split(header, decompress_records(refused.batch, self.decompress))

        def chosen_records(numbers: list[int]) -> Placed:
            data = memoryview(b"".join(every[number] for number in numbers))
            batch = records.recompress(header._replace(records=len(numbers)), data, Codec.NONE)
            return Placed(refused.partition, batch, [refused.offsets[number] for number in numbers])

        rest = chosen_records([number for number in range(header.records) if number not in failed])
        sent = self._parts(rest, rest.batch.payload, header.codec, self._options.limit)
        return sent, [(chosen_records([number]), why) for number, why in sorted(failed.items())]

    def halve(self, refused: Placed) -> list[Placed]:
        """Split the records of a refused batch into two batches or a few."""
        data = decompress_records(refused.batch, self.decompress)
        return self._parts(refused, data, refused.batch.header.codec, HEADER_SIZE + len(data) // 2)

    def _parts(self, refused: Placed, data: memoryview, codec: Codec, limit: int) -> list[Placed]:
        """Split the records into batches of up to `limit` bytes before compression."""
        header, placement = refused.batch.header, Placement.all_to(refused.partition)
        parts = []
        begin = 0
        for made in records.regroup(header, data, placement, codec=codec, level=self._options.level, limit=limit):
            end = begin + made.batch.header.records
            parts.append(Placed(refused.partition, made.batch, refused.offsets[begin:end]))
            begin = end
        return parts

    def contents(self, batch: RecordBatch, begin: int = 0) -> Contents:
        """Return the size of the records of a batch from this offset on; raise CorruptRecords."""
        return records.measure(batch.header, self.decompress(batch.header.codec, batch.payload), begin)

    def sizes(self, batch: RecordBatch) -> list[tuple[int | None, int | None]]:
        """Return key and value sizes of the records of a batch; None for null."""
        return list(records.sizes(batch.header, decompress_records(batch, self.decompress)))

    def single(self, batch: RecordBatch) -> SingleRecord:
        """Return the record of a batch that has one; raise CorruptRecords, and UnicodeDecodeError for a header's
        name.
        """
        return first_record(batch.header, decompress_records(batch, self.decompress))

    def batch_of(self, record: SingleRecord) -> RecordBatch:
        """Return a batch with this one record, compressed where the producer compresses."""
        return batch_of([record], self._options.codec or Codec.NONE, self._options.level)

    def _spreading(self, topic: str, partitions: int, survey: RecordSurvey) -> Placement:
        """Place all records, or those without a key, round robin from where the last batch of the topic ended."""
        first = self._turns[topic] % partitions
        if self._options.hashes_keys:
            self._turns[topic] = first + survey.keyless
            return Placement.by_key_spreading(partitions, first=first)
        self._turns[topic] = first + survey.records
        return Placement.spreading(partitions, first=first)


def _header_may_pass(header: Header, begin: int) -> bool:
    return header.base_offset >= begin and not header.must_be_re_encoded and header.has_time
