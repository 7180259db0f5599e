"""The secrets in a connector's configuration, which no answer shows: `[hidden]` stands for them, in and out."""

from __future__ import annotations

import re
from collections.abc import Mapping

from legacy_mm.base.redaction import HIDDEN, known_secrets
from legacy_mm.connect.entities import Config

_REFERENCE = re.compile(r"\$\{[^{}:]+:[^{}]+\}")


def shown(config: Config) -> dict[str, str]:
    """Return a configuration with `[hidden]` in place of each secret; a reference to one is shown."""
    return {
        key: HIDDEN if known_secrets({key: text}) and not _is_reference(text) else text for key, text in config.items()
    }


def completed(config: Config, before: Mapping[str, str]) -> dict[str, str]:
    """Return a configuration in which `[hidden]` is the value that the key had before."""
    return {key: before.get(key, text) if text == HIDDEN else text for key, text in config.items()}


def _is_reference(text: str) -> bool:
    """Return True for a value that is one reference and nothing else."""
    return _REFERENCE.fullmatch(text.strip()) is not None
