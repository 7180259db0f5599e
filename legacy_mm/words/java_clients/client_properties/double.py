"""Java's DOUBLE, which few properties are."""

from __future__ import annotations

import re
from dataclasses import dataclass

from legacy_mm.words.java_clients.client_properties.rule import check_range, invalid

_DOUBLE = re.compile(r"([+-]?(?:NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?))[fFdD]?")


@dataclass(frozen=True, slots=True)
class Double:
    """DOUBLE, as `Double.parseDouble` reads it; without its hexadecimal form."""

    low: float | None = None
    high: float | None = None

    @property
    def allowed(self) -> str:
        """Both ends, where the property has them."""
        return "a number" if self.low is None else f"a number from {self.low} to {self.high}"

    def parse(self, name: str, text: str) -> float:
        """Parse a number within the property's range."""
        if not (found := _DOUBLE.fullmatch(text)):
            raise invalid(name, text, "Not a number of type DOUBLE")
        value = float(found[1])
        check_range(name, value, self.low, self.high)
        return value
