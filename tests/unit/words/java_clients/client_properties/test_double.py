"""Java's DOUBLE: what it reads, and its range."""

from __future__ import annotations

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.words.java_clients.client_properties.double import Double


@pytest.mark.parametrize(("text", "value"), [("1", 1.0), ("-.5e1", -5.0), ("2.d", 2.0), ("Infinity", float("inf"))])
def test_a_number(text: str, value: float) -> None:
    assert Double().parse("x", text) == value


@pytest.mark.parametrize("text", ["", "inf", "1,5", "0x1p3", "1e"])
def test_no_number(text: str) -> None:
    with pytest.raises(ConfigurationError, match="Not a number of type DOUBLE"):
        Double().parse("x", text)


def test_a_range() -> None:
    assert Double(0.5, 1.0).parse("x", "0.5") == 0.5
    with pytest.raises(ConfigurationError):
        Double(0.5, 1.0).parse("x", "0.4")
    assert (Double().allowed, Double(0.5, 1.0).allowed) == ("a number", "a number from 0.5 to 1.0")
