"""The secrets in a connector's configuration, which no answer shows: `[hidden]` stands for them, in and out."""

from __future__ import annotations

from collections.abc import Mapping

from legacy_mm.base.redaction import HIDDEN, Secrets, known_secrets
from legacy_mm.connect.entities import Config
from legacy_mm.words.java_clients.config_providers import is_reference

_BY_LOOK = Secrets()
"""Hides what looks like a secret in a text, such as the login of a URL."""


def shown(config: Config) -> dict[str, str]:
    """Return a configuration with `[hidden]` in place of each secret; a reference to one is shown."""
    return {key: shown_value(key, text) for key, text in config.items()}


def shown_value(key: str, text: str) -> str:
    """Return the value of a property with `[hidden]` in place of each secret."""
    if known_secrets({key: text}) and not is_reference(text):
        return HIDDEN
    return _BY_LOOK.hidden(text)


def completed(config: Config, before: Mapping[str, str]) -> dict[str, str]:
    """Return a configuration in which a value that is shown as the one before is the one before."""
    return {
        key: before[key] if key in before and text in (HIDDEN, shown_value(key, before[key])) else text
        for key, text in config.items()
    }
