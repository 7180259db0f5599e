"""The features file of each step of `bin/demo upgrade`: samples put together. Rule: pure text, no cluster."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from legacy_mm.base.errors import ConfigurationError

ADAPTED: Mapping[str, tuple[str | None, str]] = {
    "replication.factor": ("1", "a cluster is one broker"),
    "feature.topics": (None, "all topics at once"),
    "emit.checkpoints.interval.seconds": ("1", "so that the demo does not wait"),
    "sync.group.offsets.interval.seconds": ("1", "so that the demo does not wait"),
    "target.admin": (None, "there are no logins"),
}
"""Key of a sample, or its beginning -> the value for these clusters (None: left out), and the reason."""
Entries = Mapping[str, str]


def sample_of(folder: Path, number: int, flag: str) -> Path:
    """Return the sample of a rung; raises ConfigurationError if it is not about this flag."""
    found = sorted(folder.glob(f"{number}-*.properties"))
    if len(found) != 1 or entries(found[0].read_text(encoding="ascii")).get(flag) != "true":
        raise ConfigurationError(f"{folder} has no file {number}-*.properties that switches {flag} on")
    return found[0]


def entries(text: str) -> dict[str, str]:
    """Parse keys and values as they are written, escapes too; a continued line counts as one."""
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def adapted(sample: Entries) -> tuple[dict[str, str], list[str]]:
    """Return a sample adapted to these clusters, and a line for each difference."""
    kept, told = dict(sample), []
    for start, (value, why) in ADAPTED.items():
        for key in _under(sample, start):
            del kept[key]
        if _under(sample, start):
            told.append(f"{start}: {'left out' if value is None else f'{value} here'}, {why}")
            kept |= {} if value is None else {start: value}
    return kept, told


def combined(samples: Collection[Entries], off: Collection[str]) -> dict[str, str]:
    """Return the content of a features file with all of them, without the flags that are `off`."""
    together = {key: value for sample in samples for key, value in adapted(sample)[0].items()}
    return {key: value for key, value in together.items() if key not in off}


def written(together: Entries) -> str:
    """Return the text of a features file."""
    return "".join(f"{key}={value}\n" for key, value in together.items())


def _under(sample: Entries, start: str) -> list[str]:
    def keys() -> Iterator[str]:
        return (key for key in sample if key == start or key.startswith(f"{start}."))

    return list(keys())
