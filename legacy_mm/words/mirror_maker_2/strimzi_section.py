"""A part of a resource of Kubernetes, whose errors name its place in the file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from legacy_mm.base.errors import ConfigurationError


class Section:
    """A part of a resource, and its place in the file."""

    def __init__(self, given: object, place: str) -> None:
        if not isinstance(given, dict):
            raise ConfigurationError(f"{place} is not a section with fields: write it as Strimzi's API has it")
        self.given: Mapping[str, Any] = given
        self.place = place

    def section(self, name: str) -> Section | None:
        """Return a section in it; None if it is not there."""
        given = self.given.get(name)
        return None if given is None else Section(given, f"{self.place}.{name}")

    def required(self, name: str) -> Section:
        """Return a section that has to be there."""
        if (found := self.section(name)) is None:
            raise ConfigurationError(f"{self.place}.{name} is missing: Strimzi requires it")
        return found

    def sections(self, name: str) -> list[Section]:
        """Return the sections of a list; none if it is not there."""
        given = self.given.get(name) or []
        if not isinstance(given, list):
            raise ConfigurationError(f"{self.place}.{name} is not a list")
        return [Section(each, f"{self.place}.{name}[{number}]") for number, each in enumerate(given)]

    def text(self, name: str) -> str:
        """Return a field that has to be there."""
        if self.given.get(name) is None:
            raise ConfigurationError(f"{self.place}.{name} is missing: Strimzi requires it")
        return self._scalar(name)

    def optional(self, *names: str) -> str | None:
        """Return the first of these fields that is there; None if none is."""
        return next((self._scalar(name) for name in names if self.given.get(name) is not None), None)

    def config(self) -> dict[str, str]:
        """Return the properties of its field `config`."""
        found = self.section("config")
        return {} if found is None else {str(name): found._scalar(name) for name in found.given}

    def _scalar(self, name: str) -> str:
        value = self.given[name]
        if isinstance(value, bool):
            return "true" if value else "false"
        if value is None or isinstance(value, dict | list):
            raise ConfigurationError(f"{self.place}.{name} is no text, number or boolean: write one")
        return str(value)
