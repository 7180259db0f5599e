"""The receipt of a cut-over, one JSON file of mode 0600 with all that is needed to go back."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from legacy_mm.base.errors import ConfigurationError, HostError
from legacy_mm.base.model import CommittedOffset, TopicPartition

_FORMAT = 1
_MODE = 0o600


@dataclass(frozen=True, slots=True)
class MovedPartition:
    """One partition of the group."""

    source: TopicPartition
    source_offset: int
    target: TopicPartition
    before: CommittedOffset | None
    """Offset at the target; None: nothing was committed."""
    after: CommittedOffset
    how: str

    @property
    def changed(self) -> bool:
        """True if anything is committed for the partition."""
        return self.before != self.after


@dataclass(frozen=True, slots=True)
class CutoverReceipt:
    """The move of one group to the target."""

    group: str
    flow: str
    target_cluster: str
    """Id of the target cluster."""
    time: str
    """Time in UTC, ISO 8601."""
    state: str
    """`planned` until what was committed has been read back, then `committed`."""
    partitions: tuple[MovedPartition, ...]


def save(receipt: CutoverReceipt, file: Path) -> None:
    """Write the receipt, replacing an earlier one atomically; raises HostError."""
    fresh = file.with_name(f"{file.name}.new")
    document = {"format": _FORMAT, **asdict(receipt), "partitions": [_row(each) for each in receipt.partitions]}
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, _MODE)
        with os.fdopen(descriptor, "w", encoding="utf-8") as out:
            json.dump(document, out, indent=2)
            out.write("\n")
            out.flush()
            os.fsync(out.fileno())
        fresh.replace(file)
    except OSError as error:
        raise HostError(f"{file} cannot be written: {error.strerror}") from error


def load(file: Path) -> CutoverReceipt:
    """Read a receipt back; raises HostError, and ConfigurationError for a file that is no receipt."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        known = document.pop("format") == _FORMAT
        partitions = tuple(_partition(row) for row in document.pop("partitions"))
        receipt = CutoverReceipt(**document, partitions=partitions)
    except OSError as error:
        raise HostError(f"{file} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigurationError(f"{file} is no receipt of legacy-mm cutover") from error
    if not known:
        raise ConfigurationError(f"{file} is a receipt of another version")
    return receipt


def _row(moved: MovedPartition) -> dict[str, Any]:
    return {
        "source": {**moved.source._asdict(), "offset": moved.source_offset},
        "target": {
            **moved.target._asdict(),
            "before": None if moved.before is None else moved.before._asdict(),
            "after": moved.after._asdict(),
        },
        "how": moved.how,
    }


def _partition(row: dict[str, Any]) -> MovedPartition:
    source, target = row["source"], row["target"]
    return MovedPartition(
        TopicPartition(source["topic"], source["partition"]),
        int(source["offset"]),
        TopicPartition(target["topic"], target["partition"]),
        None if target["before"] is None else CommittedOffset(**target["before"]),
        CommittedOffset(**target["after"]),
        row["how"],
    )
