"""Recorded facts of the legacy tool, from `compat/recorded`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

RECORDED = Path(__file__).parents[3] / "compat" / "recorded"


def recorded(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RECORDED / name).read_text())
    return found


@pytest.fixture(scope="session")
def cli_golden() -> dict[str, Any]:
    return recorded("3.9.1.json")


@pytest.fixture(scope="session")
def loop_golden() -> dict[str, Any]:
    return recorded("facts/loop.json")


@pytest.fixture(scope="session")
def config_map() -> dict[str, Any]:
    return recorded("facts/client-properties.json")
