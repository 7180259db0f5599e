"""One Java for the questions of many command lines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import pytest

from legacy_mm.cli import explain
from legacy_mm.cli.explain import StartJava
from legacy_mm.spark.session import java_when_asked


@pytest.fixture(scope="session")
def java() -> Iterator[StartJava]:
    """Started by the first question, for all of them."""
    with java_when_asked(None) as started:
        yield lambda _: nullcontext(started)


@pytest.fixture
def one_java(java: StartJava, monkeypatch: pytest.MonkeyPatch) -> None:
    """`explain` asks it, and starts none of its own."""
    monkeypatch.setattr(explain, "java_when_asked", java)
