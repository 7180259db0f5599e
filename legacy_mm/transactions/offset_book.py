"""The words for where a flow keeps the offsets that it commits beside its positions. Pure."""

from __future__ import annotations

from typing import NamedTuple


class OffsetBook(NamedTuple):
    """The group at the source, or the offsets topic of MirrorMaker 2's workers at the target."""

    topic: str = ""
    """Empty: the group."""

    @property
    def name(self) -> str:
        """The book itself."""
        return f"topic {self.topic}" if self.topic else "the group"

    @property
    def offset(self) -> str:
        """The offset of one partition."""
        return f"the offset in topic {self.topic}" if self.topic else "the group's offset"

    @property
    def offsets(self) -> str:
        """The offsets of all partitions."""
        return f"the offsets in topic {self.topic}" if self.topic else "the group's offsets"

    @property
    def into(self) -> str:
        """The place into which an offset was committed."""
        return f"in topic {self.topic}" if self.topic else "for the group"

    def at(self, offset: int) -> str:
        """Return an offset of it by its number."""
        return f"offset {offset} in topic {self.topic}" if self.topic else f"the group's offset {offset}"


GROUP = OffsetBook()
