"""The handlers of java/handlers, in Python: `--message.handler samples/handlers/handlers.py:Rename`."""

from __future__ import annotations

from legacy_mm.handlers.api import MessageHandler, Record, TargetRecord


class Rename(MessageHandler):
    """Puts the text of --message.handler.args before the topic."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def handle(self, record: Record) -> list[TargetRecord]:
        """The same record for another topic."""
        return [record.to(self._prefix + record.topic)]


class DropTombstones(MessageHandler):
    """Drops records without a value."""

    def handle(self, record: Record) -> list[TargetRecord]:
        """The record, or nothing."""
        return [] if record.value is None else [record.to(record.topic)]


class FanOut(MessageHandler):
    """Sends each record to its topic and, in the partition it came from, to an archive."""

    def handle(self, record: Record) -> list[TargetRecord]:
        """Two records."""
        archived = TargetRecord(
            f"{record.topic}.archive",
            key=None,
            value=record.value,
            partition=record.partition,
            timestamp=record.timestamp,
        )
        return [record.to(record.topic), archived]


class AddHeaders(MessageHandler):
    """Adds headers that say where the record comes from."""

    def handle(self, record: Record) -> list[TargetRecord]:
        """The record with two more headers."""
        place = f"{record.topic}-{record.partition}@{record.offset}".encode()
        return [record.to(record.topic)._replace(headers=(*record.headers, ("from", place), ("nothing", None)))]


class EveryNth(MessageHandler):
    """Stateful: lets every n-th record through, with its number as the value; the args are "n first"."""

    def __init__(self, args: str) -> None:
        self._n, self._number = map(int, args.split(" "))

    def handle(self, record: Record) -> list[TargetRecord]:
        """The record with another value and without headers, or nothing."""
        number, self._number = self._number, self._number + 1
        if number % self._n:
            return []
        value = b"%d" % self._number
        return [TargetRecord(record.topic, record.key, value, timestamp=record.timestamp)]


class Picky(MessageHandler):
    """Raises on a record whose key is "poison"."""

    def handle(self, record: Record) -> list[TargetRecord]:
        """The same record."""
        if record.key == b"poison":
            raise ValueError(f"poison at {record.offset}")
        return [record.to(record.topic)]
