"""The start of a process that mirrors, for both tools' commands: logs, signals, secrets, Java, the name that jps shows.

Java takes longest: it begins before the modules of the mirror are imported.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import LegacyMMError
from legacy_mm.base.settings import HandlerSettings, ProcessSettings, RestSettings
from legacy_mm.cli.parser import own_values
from legacy_mm.flow import lifecycle
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.task_limit import check_task_limit, usable_cores
from legacy_mm.logs import events, root_logger
from legacy_mm.logs.log4j_found import Found
from legacy_mm.logs.log_settings import DEBUG, LEVELS, LogSettings
from legacy_mm.runtime.spark.session import SparkHost
from legacy_mm.words.legacy_tool import java_process, messages
from legacy_mm.words.options.option_catalogue import OwnOptions

if TYPE_CHECKING:
    from legacy_mm.connect.herder import Herder
    from legacy_mm.flow.host import Host
    from legacy_mm.metrics.jmx import Bean
    from legacy_mm.words.mirror_maker_2.connect_files import ConnectFiles


_CLOSE_TIMEOUT = 1.0


class MirrorStart:
    """One start. It hears signals from the moment it is made."""

    def __init__(self) -> None:
        self.signals = lifecycle.Signals(OwnOptions().shutdown_timeout_ms / 1000)
        self._process: ProcessSettings | None = None
        self._handler: HandlerSettings | None = None
        self._begin: Callable[[], SparkHost] | None = None
        self._begun: SparkHost | None = None

    def begin_java(
        self, process: ProcessSettings, flows: Sequence[Settings], logs: LogSettings, *, may_grow: bool = False
    ) -> None:
        """Begin to start Java and Spark for these flows; what is in the way of that is found again by `host`.

        `may_grow`: flows may come later, and need slots of Spark, too.
        """
        self._process = process
        self._handler = next((each.handler for each in flows if each.streams), None)
        streams = max(1, sum(each.streams for each in flows), usable_cores() if may_grow else 0)
        quiet = logs.level_of(root_logger.JAVA) > DEBUG
        self._begin = partial(SparkHost, process.spark, streams, quiet=quiet)
        with suppress(LegacyMMError):
            self._begun = self._begin()

    def give_up(self) -> None:
        """End Java at once."""
        if self._begun is not None:
            self._begun.stop(Deadline.after(0))

    @contextmanager
    def as_tool(self, argv: Sequence[str], process: ProcessSettings, class_name: str) -> Iterator[lifecycle.Signals]:
        """Look like the tool of this class, and stop in the time that the options give, while the block runs."""
        self.signals.shutdown_timeout = process.shutdown_timeout
        with java_process.shown_by_jps(argv, process.spark.jvm.options, class_name):
            yield self.signals

    def host(self, beans: Iterable[Bean], *, outlives_flows: bool = False) -> Host:
        """Return the host of the flows, for the caller to close; raises HostError if Java cannot be started."""
        from legacy_mm.flow.host import Host

        assert self._process is not None
        assert self._begin is not None
        spark = self._begun or self._begin()
        return Host(self._process, spark, beans, self._handler, outlives_flows=outlives_flows)


def begin_logs(file: Found, options: OwnOptions, wording: Mapping[events.Event, root_logger.Wording]) -> LogSettings:
    """Log from now on as the file that was found says, and our options; events without a row have words of ours."""
    settings = log_settings(file, options)
    root_logger.configure(settings, wording)
    if options.admin_port is not None:
        root_logger.keep_recent()
    root_logger.catch_strays()
    for problem in file.problems:
        logging.getLogger(messages.OWN).warning("%s", problem)
    return settings


def log_settings(file: Found, options: OwnOptions) -> LogSettings:
    """Return the settings of the file under our options."""
    settings = file.settings
    if options.log_level is not None:
        settings = settings.with_root_level(LEVELS[options.log_level])
    return settings.with_json_console() if options.log_format == "json" else settings


def accept(flows: Collection[Settings], secrets: Iterable[str]) -> None:
    """Hide the secrets from here on; raise ConfigurationError for more tasks than this host has room for.

    Call it before Java starts, whose threads would count.
    """
    root_logger.hide(secrets)
    check_task_limit(flows)


@contextmanager
def admin_port(
    host: Host,
    settings: RestSettings,
    herder: Callable[[], Herder],
    own_words: Sequence[str],
    files: ConnectFiles | None = None,
) -> Iterator[None]:
    """Answer at the admin port while the block runs, if it was asked for; else nothing of it is made.

    Raises HostError and ConfigurationError, with the host closed. `own_words` give our options. `files` are those of
    a worker of Kafka Connect.
    """
    if settings.port is None:
        yield
        return
    from legacy_mm.connect.admin_port import AdminPort

    try:
        port = AdminPort(settings, herder(), host, files, partial(own_values, own_words, os.environ))
    except BaseException:
        host.close(Deadline.after(_CLOSE_TIMEOUT))
        raise
    with closing(port):
        yield
