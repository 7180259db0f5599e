"""Folders with all jars of the Kafka releases in `releases.py`. Rule: only names them."""

from __future__ import annotations

from pathlib import Path

from compat.laboratory.releases import Release, find_release
from legacy_mm.runtime.jvm import jars


def cache_folder() -> Path:
    """Return the folder of everything that is fetched once per user."""
    return jars.cache_folder()


def kafka_jars(release: str) -> Path:
    """Return the folder with every jar of a release in `releases.py`; the first call fetches them. Raises HostError."""
    return jars.kafka_jars(find_release(release))


def jars_folder(row: Release) -> Path:
    """Return the folder for the jars of a row."""
    return jars.jars_folder(row)
