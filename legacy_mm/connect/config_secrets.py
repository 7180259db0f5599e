"""The secrets in a connector's configuration, which no answer shows: `[hidden]` stands for them, in and out."""

from __future__ import annotations

from collections.abc import Mapping

from legacy_mm.base.redaction import HIDDEN, known_secrets
from legacy_mm.connect.entities import Config
from legacy_mm.words.java_clients.config_providers import is_reference


def shown(config: Config) -> dict[str, str]:
    """Return a configuration with `[hidden]` in place of each secret; a reference to one is shown."""
    return {
        key: HIDDEN if known_secrets({key: text}) and not is_reference(text) else text for key, text in config.items()
    }


def completed(config: Config, before: Mapping[str, str]) -> dict[str, str]:
    """Return a configuration in which `[hidden]` is the value that the key had before."""
    return {key: before.get(key, text) if text == HIDDEN else text for key, text in config.items()}
