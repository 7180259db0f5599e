"""The access rules that this host has added at a target, in a file: no others are ever removed.

The file outlives the process. A rule is noted when the target has acknowledged it, so a rule that existed before is
never ours. A rule that was added just before a crash is not known to be ours, and stays. Each pair of clusters, and
each way of naming topics, has a file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from urllib.parse import quote

from legacy_mm.base.errors import HostError
from legacy_mm.policies.acl_rules import AclRule


def state_folder() -> Path:
    """Return `$XDG_STATE_HOME/legacy_mm`, or `~/.local/state/legacy_mm`."""
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "legacy_mm"


class MadeRules:
    """The rules of one flow, as its files hold them. Used by one thread at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path: Path | None = None

    def between(self, source: str, target: str, naming: str) -> frozenset[AclRule]:
        """Return our rules at `target` that come from `source` (cluster ids).

        Raises HostError.

        `naming` distinguishes ways of naming topics.
        """
        self._path = self._folder / f"access-rules-{quote(f'{source}-{target}-{naming}', safe='')}.json"
        return self._read()

    def note(self, added: Iterable[AclRule], removed: Iterable[AclRule]) -> None:
        """Note rules that were added and removed; raises HostError. Nothing is noted before `between` was called."""
        added, removed = frozenset(added), frozenset(removed)
        if self._path is None or not added | removed:
            return
        rows = [asdict(rule) for rule in sorted((self._read() | added) - removed)]
        beside = self._path.with_suffix(".new")
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            beside.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
            beside.replace(self._path)
        except OSError as error:
            raise HostError(f"{self._path} cannot be written: {error.strerror}") from error

    def _read(self) -> frozenset[AclRule]:
        if self._path is None or not self._path.exists():
            return frozenset()
        try:
            return frozenset(AclRule(**row) for row in json.loads(self._path.read_text(encoding="utf-8")))
        except OSError as error:
            raise HostError(f"{self._path} cannot be read: {error.strerror}") from error
        except (ValueError, TypeError) as error:
            raise HostError(
                f"{self._path} holds no access rules: remove the file; the rules in it then stay at the target"
            ) from error
