"""Folders that Kafka's storage tool has formatted, kept for later clusters: a copy saves a JVM for each broker.

What formatting writes depends on the release and on the tool's options (feature levels, users of SCRAM), and on nothing
of a broker but its ids, which are in `meta.properties`.
"""

from __future__ import annotations

import base64
import hashlib
import shutil
import tempfile
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path

from compat.laboratory.jars import cache_folder, jars_folder
from compat.laboratory.releases import Release
from legacy_mm.jvm.jars import locked

_IDS = "meta.properties"


def new_id() -> str:
    """Return a random id as Kafka writes them, of a cluster or of a folder of logs."""
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")


class FormattedFolders:
    """The folder of one release and these options of `kafka-storage format`."""

    def __init__(self, release: Release, options: Sequence[str]) -> None:
        digest = hashlib.sha256("\n".join(options).encode()).hexdigest()[:8]
        self._kept = cache_folder() / "formatted" / f"{jars_folder(release).name}-{digest}"

    def format(self, logs: Path, node: int, cluster_id: str, by_tool: Callable[[], None]) -> None:
        """Make a broker's folder of logs; `by_tool` formats it with the tool, where no folder is kept yet."""
        if not self._kept.is_dir():
            by_tool()
            self._keep(logs)
            return
        shutil.copytree(self._kept, logs)
        ids = {"version": "1", "node.id": str(node), "cluster.id": cluster_id, "directory.id": new_id()}
        text = "".join(f"{name}={value}\n" for name, value in ids.items())
        (logs / _IDS).write_text(text, encoding="ascii")

    def _keep(self, logs: Path) -> None:
        """Keep a copy without its ids; two processes may do so at once."""
        self._kept.parent.mkdir(parents=True, exist_ok=True)
        lock = self._kept.with_name(f"{self._kept.name}.lock")
        with locked(lock), tempfile.TemporaryDirectory(dir=self._kept.parent) as folder:
            copy = Path(folder) / "logs"
            shutil.copytree(logs, copy, ignore=shutil.ignore_patterns(_IDS))
            if not self._kept.exists():
                copy.rename(self._kept)
