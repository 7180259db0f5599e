"""What librdkafka itself says of a property."""

from __future__ import annotations

from pathlib import Path

import pytest

from legacy_mm.clients.librdkafka.property_refusal import refusal

TASKS = Path("/proc/self/task")


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("fetch.error.backoff.ms", "-5", "outside allowed range 0..300000"),
        ("no.such.name", "x", 'No such configuration property: "no.such.name"'),
        ("enable.partition.eof", "maybe", "Expected bool value"),
        ("error_cb", "x", "a callable function"),
    ],
)
def test_what_it_refuses(name: str, text: str, why: str) -> None:
    said = refusal(name, text)
    assert why in said
    assert said == said.strip()


@pytest.mark.parametrize(
    ("name", "text"), [("queued.min.messages", "5"), ("debug", "all"), ("request.timeout.ms", "9")]
)
def test_what_it_takes_makes_no_client(name: str, text: str, capfd: pytest.CaptureFixture[str]) -> None:
    """A client would have threads, and say what `debug` asks for."""
    before = set(TASKS.iterdir())
    assert refusal(name, text) == ""
    assert set(TASKS.iterdir()) == before
    assert capfd.readouterr() == ("", "")
