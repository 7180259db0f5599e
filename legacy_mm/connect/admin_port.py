"""Opens `--admin.port`: the server, before the herder and the plug-ins. Imported only if the port is given."""

from __future__ import annotations

from legacy_mm.base.settings import RestSettings
from legacy_mm.connect.connector_plugins import MirrorPlugins
from legacy_mm.connect.herder import Herder
from legacy_mm.connect.rest.rest_application import rest_application
from legacy_mm.connect.rest.rest_server import RestServer
from legacy_mm.flow.host import Host
from legacy_mm.metrics.prometheus import scrape_of
from legacy_mm.words.mirror_maker_2.connect_files import ConnectFiles


def serve(settings: RestSettings, herder: Herder, host: Host, files: ConnectFiles | None = None) -> RestServer:
    """Listen, for the caller to close; raises HostError and ConfigurationError. `files`: see `MirrorPlugins`."""
    return RestServer(
        settings, rest_application(settings, herder, MirrorPlugins(files), scrape_of(host.snapshots), host.state)
    )
