"""Opens `--admin.port`: the server, before the herder and the plug-ins. Imported only if the port is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from legacy_mm.base.option import OptionValue
from legacy_mm.base.settings import RestSettings
from legacy_mm.connect.connector_plugins import MirrorPlugins
from legacy_mm.connect.herder import Herder
from legacy_mm.connect.page.flow_numbers import MEASURES
from legacy_mm.connect.page.status_board import Sampler, StatusBoard
from legacy_mm.connect.rest.rest_application import rest_application
from legacy_mm.connect.rest.rest_server import RestServer
from legacy_mm.flow.host import Host
from legacy_mm.logs import root_logger
from legacy_mm.metrics.prometheus import scrape_of
from legacy_mm.metrics.shared_snapshots import SharedSnapshots
from legacy_mm.words.mirror_maker_2.connect_files import ConnectFiles


class AdminPort:
    """The server at the port, and the memory of the last hour that its pages show."""

    def __init__(
        self,
        settings: RestSettings,
        herder: Herder,
        host: Host,
        files: ConnectFiles | None,
        options: Callable[[], Sequence[OptionValue]],
    ) -> None:
        """Listen; raise HostError and ConfigurationError. `files`: see `MirrorPlugins`.

        `options` reads those of the whole process.
        """
        root_logger.keep_recent()  # the port may be opened by a line of a file, which is read later than the options
        board = StatusBoard(
            herder, partial(host.snapshots, MEASURES), host.state, actions=settings.actions, options=options
        )
        scrape = scrape_of(SharedSnapshots(host.snapshots))
        application = rest_application(settings, herder, MirrorPlugins(files), scrape, host.state, board)
        self._server = RestServer(settings, application)
        self._sampler = Sampler(board)

    def close(self) -> None:
        """Stop listening."""
        self._sampler.close()
        self._server.close()
