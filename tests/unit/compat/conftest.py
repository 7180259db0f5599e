"""Recorded facts of the legacy tool; tests that need them say so and skip where they are not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

RECORDED = Path(__file__).parents[3] / "compat" / "recorded"
CONTRACTS = Path(__file__).parents[3] / ".." / "shared" / "contracts"


def recorded(name: str) -> Any:
    """A recorded file, or None where it is not beside the checkout."""
    path = CONTRACTS / name
    return json.loads(path.read_text()) if path.exists() else None


@pytest.fixture(scope="session")
def cli_golden() -> dict[str, Any]:
    golden: dict[str, Any] = json.loads((RECORDED / "3.9.1.json").read_text())
    return golden


@pytest.fixture(scope="session")
def loop_golden() -> dict[str, Any]:
    golden: dict[str, Any] | None = recorded("legacy-loop-golden.json")
    if golden is None:
        pytest.skip(f"{CONTRACTS} is not here")
    return golden


@pytest.fixture(scope="session")
def config_map() -> dict[str, Any]:
    found: dict[str, Any] | None = recorded("config-map.json")
    if found is None:
        pytest.skip(f"{CONTRACTS} is not here")
    return found
