"""Knows the plug-ins of this worker: the mirror connectors, and what their configuration may name."""

from __future__ import annotations

from collections.abc import Sequence

from legacy_mm.connect import config_definitions, validation
from legacy_mm.connect.config_definitions import CONNECTOR_CLASSES
from legacy_mm.connect.entities import RELEASE, JsonObject
from legacy_mm.connect.plugins import GivenConfig, PluginInfo
from legacy_mm.connect.workers import Workers
from legacy_mm.words.mirror_maker_2.connect_files import ConnectFiles, looked_up
from legacy_mm.words.mirror_maker_2.transform_properties import FAMILIES, connect_class

_CONVERTERS = ("converter", "header_converter")


class MirrorPlugins:
    """The plug-ins that run here, in the order of Connect; classes in jars run, and are not listed."""

    def __init__(self, files: ConnectFiles | None = None) -> None:
        """Take the workers, whose providers look up references; None: the flows are of a driver's file."""
        self._workers = Workers(files)

    def plugins(self) -> Sequence[PluginInfo]:
        """Return all plug-ins."""
        return [
            *(PluginInfo(name, "source", RELEASE) for name in CONNECTOR_CLASSES),
            *(
                PluginInfo(connect_class(family, kind), config_definitions.LABELS[family].lower(), RELEASE)
                for family, kinds in FAMILIES.items()
                for kind in kinds
            ),
            *(PluginInfo(config_definitions.BYTES_CONVERTER, of_type, RELEASE) for of_type in _CONVERTERS),
        ]

    def definitions(self, plugin: str) -> Sequence[JsonObject]:
        """Return the definitions of the properties that a plug-in takes; raises ConnectRestError if it is unknown."""
        return config_definitions.plugin_definitions(plugin)

    def validate(self, plugin: str, config: GivenConfig) -> tuple[JsonObject, int]:
        """Return the body of a validation, and the number of errors in it.

        A form that names no target yet has no worker, and its references stay as they are.
        """
        worker = self._workers.find({key: text for key, text in config.items() if text is not None}) or {}
        return validation.validate(plugin, config, lambda given: looked_up(given, worker, self._workers.secrets_dir))
