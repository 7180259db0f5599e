"""The command behind `bin/connect-mirror-maker.sh`: MirrorMaker 2's file in, its driver's exit code out."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import NoReturn

from legacy_mm.assembly import wiring
from legacy_mm.base.errors import ConfigurationError, HostError, LegacyMMError, UsageError, one_line
from legacy_mm.cli.command import CommandBody, CommandCall
from legacy_mm.cli.exit_code import ExitCode
from legacy_mm.cli.exits import exit_with
from legacy_mm.cli.mirror_maker import begin_logs
from legacy_mm.cli.parser import read_own_options
from legacy_mm.flow import client_checks, flow_registry, group_members, lifecycle
from legacy_mm.flow.host import Host
from legacy_mm.flow.mirror import Mirror
from legacy_mm.flow.supervisor import SupervisedFlow, supervise
from legacy_mm.flow.task_limit import check_task_limit
from legacy_mm.logs import root_logger
from legacy_mm.logs.log4j_found import Found
from legacy_mm.logs.log_settings import DEBUG, LEVELS, Appender, Console, LoggerSettings, LogSettings
from legacy_mm.metrics.connect_mbeans import CONNECT_BEANS
from legacy_mm.metrics.mirror_maker_2_mbeans import MIRROR_MAKER_2_BEANS
from legacy_mm.metrics.registry import Registry
from legacy_mm.runtime.spark.session import SparkHost
from legacy_mm.words.legacy_tool import environment, java_process, log4j_configuration
from legacy_mm.words.legacy_tool.client_translation import ClientTranslation
from legacy_mm.words.legacy_tool.console import say
from legacy_mm.words.mirror_maker_2 import connect_files, connect_line, driver, driver_line
from legacy_mm.words.mirror_maker_2.circle_guard import Circles
from legacy_mm.words.mirror_maker_2.driver import DriverRun, RefusedFlow
from legacy_mm.words.mirror_maker_2.flow_translation import FlowRun
from legacy_mm.words.options.option_catalogue import NO_ENGINES, OwnOptions

Flows = Callable[[ClientTranslation], DriverRun]
RunFlows = Callable[[Flows, OwnOptions], int]
STOPPED_BY_ERROR = 2
"""A code of MirrorMaker 2's driver, as `driver_line.BAD_WORDS` is."""


def main(argv: Sequence[str], java_words: Sequence[str] = ()) -> NoReturn:
    """Run the flows of the file that these words name, and end the process."""
    exit_with(lambda: run(argv, java_words))


def run(argv: Sequence[str], java_words: Sequence[str] = (), run_flows: RunFlows | None = None) -> int:
    """Return the exit code of MirrorMaker 2's driver for these words; `run_flows` does the mirroring."""
    try:
        line = driver_line.parse(argv)
        if line.help:
            say(sys.stdout, driver_line.HELP)
            return ExitCode.DONE
        options = read_own_options(line.own_words, os.environ)
    except UsageError as error:
        say(sys.stderr, f"{error}\n")
        return driver_line.BAD_WORDS

    def flows(clients: ClientTranslation) -> DriverRun:
        file = driver.load(line)
        root_logger.hide(file.secrets)
        return driver.translate_driver(file, clients)

    return (run_flows or partial(_run_flows, argv=argv, java_words=java_words))(flows, options)


def _connect(call: CommandCall) -> int:
    """Run `legacy-mm connect WORKER CONNECTOR ...`; return the exit code."""
    argv = call.options.words
    if argv and argv[0] in ("-h", "--help"):
        say(sys.stdout, f"{connect_line.USAGE}\n")
        return ExitCode.DONE
    try:
        line = connect_line.parse(argv)
        options = read_own_options(line.own_words, os.environ)
    except UsageError as error:
        say(sys.stderr, f"{error}\n")
        return ExitCode.FAILED

    def flows(clients: ClientTranslation) -> DriverRun:
        files = connect_files.load(line, root_logger.hide)
        return driver.translate_flows(files.flows(), clients, files.remarks)

    return _run_flows(flows, options, argv)


def _run_flows(flows: Flows, options: OwnOptions, argv: Sequence[str], java_words: Sequence[str] = ()) -> int:
    """Run the flows until a signal; return the exit code."""
    signals = lifecycle.Signals(OwnOptions().shutdown_timeout_ms / 1000)
    log_settings = begin_driver_logs(options, java_words)
    outcome = prepare_flows(flows, options, java_words)
    if outcome is None:
        return STOPPED_BY_ERROR
    first = outcome.flows[0].settings
    signals.shutdown_timeout = first.shutdown_timeout
    with java_process.shown_by_jps(argv, first.spark.jvm.options, java_process.MIRROR_MAKER_2):
        host = _host(outcome, quiet=log_settings.level_of(root_logger.JAVA) > DEBUG)
        return supervise_flows(outcome, host, signals)


def prepare_flows(flows: Flows, options: OwnOptions, java_words: Sequence[str] = ()) -> DriverRun | None:
    """Return what is to run, with all said that is to say about it; None after an error, which is logged."""
    log = logging.getLogger(java_process.MIRROR_MAKER_2)
    log.info("Kafka MirrorMaker initializing ...")
    try:
        variables = environment.read(os.environ, java_words)
        root_logger.hide(variables.secrets)
        outcome = flows(ClientTranslation(variables, options))
        root_logger.hide(outcome.secrets)
        check_task_limit(each.settings for each in outcome.flows)
        outcome = outcome.checked(client_checks.check_logins)
    except LegacyMMError as error:
        log.error("%s", "Stopping due to error", extra={"detail": one_line(error)})
        for text in getattr(error, "__notes__", ()):
            log.warning("%s", text)
        return None
    for note in outcome.notes:
        logging.getLogger(note.logger or java_process.MIRROR_MAKER_2).log(note.level, "%s", note.text)
    if options.engine is not None:
        log.info("%s", NO_ENGINES)
    log.info("Targeting clusters: %s", ", ".join(dict.fromkeys(each.pair.target for each in outcome.flows)))
    return outcome


def begin_driver_logs(options: OwnOptions, java_words: Sequence[str] = ()) -> LogSettings:
    """Log at INFO on stdout, as Kafka Connect does where no file says otherwise."""
    found = log4j_configuration.read(os.environ, java_words, log4j_configuration.CONNECT_FILES)
    if found == Found():
        console = Appender("stdout", Console("stdout"))
        loggers = {
            "": LoggerSettings(LEVELS["INFO"], (console.name,)),
            root_logger.JAVA: LoggerSettings(LEVELS["WARN"]),
        }
        found = Found(LogSettings(loggers, {console.name: console}))
    return begin_logs(found, options, {})


def _host(outcome: DriverRun, *, quiet: bool) -> Host:
    copying = [each for each in outcome.flows if each.settings.streams]
    shared = (copying or outcome.flows)[0].settings
    streams = max(1, sum(each.settings.streams for each in outcome.flows))
    beans = (*MIRROR_MAKER_2_BEANS, *CONNECT_BEANS)
    return Host(shared, SparkHost(shared.spark, streams, quiet=quiet), beans, outlives_flows=True)


def supervise_flows(outcome: DriverRun, host: Host, signals: lifecycle.Signals) -> int:
    """Run the flows on this host until a signal, or until none can run; return the exit code."""
    circles = Circles(outcome.flows, lambda: host.spark.jvm.topic_matcher)
    flows = [_supervised(each, host, circles) for each in outcome.flows]
    flows += [_refused(each, host) for each in outcome.refused]
    group_members.load_native()  # each flow is built by a thread of its own
    code = supervise(flows, host, signals)
    logging.getLogger(java_process.MIRROR_MAKER_2).info("Kafka MirrorMaker stopped.")
    return code


def _supervised(flow: FlowRun, host: Host, circles: Circles) -> SupervisedFlow:
    name = str(flow.pair)
    connectors = ", ".join(flow.connectors) or "nothing"
    on_change = _reporter(host, name, flow.settings.flow, flow.connectors)
    return SupervisedFlow(name, connectors, partial(_build, flow, host, circles), on_change)


def _refused(flow: RefusedFlow, host: Host) -> SupervisedFlow:
    """Return a flow that is told of as one that cannot be built."""

    def build() -> Mirror:
        raise flow.error

    name = str(flow.pair)
    return SupervisedFlow(name, "nothing", build, _reporter(host, name, name, ()))


def _reporter(host: Host, name: str, flow: str, connectors: Sequence[str]) -> Callable[[str], None]:
    """Return what keeps the host's metrics and health in line with the flow's life."""
    life = Registry(flow, "", flow_registry.facts())
    host.registries.append(life)

    def on_change(failure: str) -> None:
        life.flow_runs(up=not failure, connectors=connectors)
        if failure:
            host.failed_flows[name] = failure
            for each in tuple(host.registries):  # other flows change the list meanwhile
                if each.flow == life.flow and each is not life:
                    host.registries.remove(each)
        else:
            host.failed_flows.pop(name, None)

    return on_change


def _build(flow: FlowRun, host: Host, circles: Circles) -> Mirror:
    try:
        client_checks.check_addresses(flow.settings)
    except ConfigurationError as error:  # a name that nobody knows today may be known tomorrow
        raise HostError(str(error)) from error
    with flow.lines.named():
        circles.check(flow.pair)
        return wiring.build_mirror(flow.settings, host, leaves_out=partial(circles.closed_by, flow.pair))


BODIES = {"connect": CommandBody(lambda _: None, _connect, as_mirror=True)}
