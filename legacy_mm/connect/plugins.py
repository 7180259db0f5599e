"""The interface of whoever knows the plug-ins: which there are, what they take, what is wrong with a configuration.

Every method raises `ConnectRestError` with Connect's code and sentence, such as 404 `Unknown plugin P.`
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from legacy_mm.connect.entities import JsonObject

GivenConfig = Mapping[str, str | None]
"""A configuration as a request has it: a null is an error of its key."""


@dataclass(frozen=True, slots=True)
class PluginInfo:
    """A class that can be part of a connector's configuration."""

    class_name: str
    type: str
    """`source`, `sink`, or what else Connect has, such as `transformation`."""
    version: str = ""

    @property
    def is_connector(self) -> bool:
        """It is a connector itself."""
        return self.type in ("source", "sink")

    def body(self) -> JsonObject:
        """Return an entry of the list of `GET /connector-plugins`."""
        found = {"class": self.class_name, "type": self.type}
        return {**found, "version": self.version} if self.version else found


class ConnectorPlugins(Protocol):
    """Knows the plug-ins. A plug-in has its Java name, or the last part of it, with or without `Connector`."""

    def plugins(self) -> Sequence[PluginInfo]:
        """Return all plug-ins."""

    def definitions(self, plugin: str) -> Sequence[JsonObject]:
        """Return the definitions of the properties that a plug-in takes."""

    def validate(self, plugin: str, config: GivenConfig) -> tuple[JsonObject, int]:
        """Return the body of a validation, and the number of errors in it.

        400 where `connector.class` is missing or is another plug-in.
        """
