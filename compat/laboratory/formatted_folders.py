"""Folders that Kafka's storage tool has formatted, kept for later clusters: a copy saves a JVM for each broker.

What formatting writes depends on the release and on the tool's options (feature levels, users of SCRAM), and on nothing
of a broker but its ids, which are in `meta.properties`.
"""

from __future__ import annotations

import base64
import shutil
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path

from compat.laboratory.jars import jars_folder
from compat.laboratory.kept_folders import kept_folder
from compat.laboratory.releases import Release

_IDS = "meta.properties"


def new_id() -> str:
    """Return a random id as Kafka writes them, of a cluster or of a folder of logs."""
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")


class FormattedFolders:
    """The folder of one release and these options of `kafka-storage format`."""

    def __init__(self, release: Release, options: Sequence[str]) -> None:
        self._name, self._options = f"formatted/{jars_folder(release).name}", options

    def format(self, logs: Path, node: int, cluster_id: str, by_tool: Callable[[], None]) -> None:
        """Make a broker's folder of logs; `by_tool` formats it with the tool, where no folder is kept yet."""

        def keep_without_ids(folder: Path) -> None:
            by_tool()
            shutil.copytree(logs, folder, ignore=shutil.ignore_patterns(_IDS), dirs_exist_ok=True)

        kept = kept_folder(self._name, self._options, keep_without_ids)
        if logs.exists():  # by the tool, now
            return
        shutil.copytree(kept, logs)
        ids = {"version": "1", "node.id": str(node), "cluster.id": cluster_id, "directory.id": new_id()}
        text = "".join(f"{name}={value}\n" for name, value in ids.items())
        (logs / _IDS).write_text(text, encoding="ascii")
