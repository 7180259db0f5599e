"""The workers of a process: one, several of Strimzi's resources, or none where the flows are of a driver's file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus

from legacy_mm.base.option import split_list
from legacy_mm.connect.entities import Config, ConnectRestError
from legacy_mm.words.mirror_maker_2.connect_files import ConnectFiles, ConnectorFile

Worker = Mapping[str, str]
_TARGET, _SERVERS = "target.cluster.bootstrap.servers", "bootstrap.servers"


class Workers:
    """Knows whose a connector is: that worker's at whose cluster the connector has its target."""

    def __init__(self, files: ConnectFiles | None) -> None:
        """Take the files; None: the flows are of a driver's file."""
        self._all: Sequence[Worker] = () if files is None else [each.worker for each in (files, *files.beside)]
        self.secrets_dir = None if files is None else files.secrets_dir

    def __bool__(self) -> bool:
        return bool(self._all)

    def of(self, config: Config, before: ConnectorFile | None = None) -> Worker:
        """Return the worker of a connector; raise 400, with the choices, for a target that no worker has.

        `before`: the connector that is there, which knows what a reference to its target stands for.
        """
        same = before is not None and config.get(_TARGET) == before.written.get(_TARGET)
        if (found := self.find(before.properties if before is not None and same else config)) is not None:
            return found
        choices = " or ".join(dict.fromkeys(each.get(_SERVERS, "") for each in self._all))
        given = config.get(_TARGET, "")
        said = f"{_TARGET}={given} is that of no worker here: write {choices}, the {_SERVERS} of one"
        raise ConnectRestError(HTTPStatus.BAD_REQUEST, said)

    def find(self, config: Config) -> Worker | None:
        """Return the worker of a connector, None for a target that no worker has; of one worker all are."""
        if len(self._all) == 1:
            return self._all[0]
        wanted = _servers(config.get(_TARGET, ""))
        return next((each for each in self._all if _servers(each.get(_SERVERS, "")) == wanted), None)


def _servers(text: str) -> frozenset[str]:
    return frozenset(split_list(text))
