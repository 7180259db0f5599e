"""MirrorMaker 2's driver: a file becomes the flows that this node runs, or the error with which the driver ends."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.settings import ProcessSettings
from legacy_mm.features.naming.policy_names import DEFAULT
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.policies.topic_entries import unfit_entries
from legacy_mm.words.java_clients import config_providers, properties_file
from legacy_mm.words.java_clients.client_properties.rule import Note
from legacy_mm.words.legacy_tool.client_translation import ClientTranslation
from legacy_mm.words.legacy_tool.java_process import MIRROR_MAKER_2
from legacy_mm.words.legacy_tool.messages import OWN
from legacy_mm.words.mirror_maker_2 import left_out, rest_listeners, transform_properties, unused_keys
from legacy_mm.words.mirror_maker_2.connect_files import ConnectFiles
from legacy_mm.words.mirror_maker_2.connector_properties import CONNECTORS, RENAMED
from legacy_mm.words.mirror_maker_2.distributed_worker import ConfigStorage, config_storage
from legacy_mm.words.mirror_maker_2.driver_file import DriverFile, NoFlows, Pair
from legacy_mm.words.mirror_maker_2.driver_line import DriverLine
from legacy_mm.words.mirror_maker_2.flow_reading import DriverRelease, FlowReading
from legacy_mm.words.mirror_maker_2.flow_translation import FlowRun, translate_flow
from legacy_mm.words.mirror_maker_2.own_options import flags_for_all_flows
from legacy_mm.words.options.option_catalogue import OwnOptions

_RELEASE = "mm2.compatibility"
_EXACTLY_ONCE, _OURS = "exactly.once.source.support", "exactly.once"


@dataclass(frozen=True, slots=True)
class RefusedFlow:
    """A flow of this node that cannot run as it is configured."""

    pair: Pair
    copies: bool
    """False: it would only emit heartbeats."""
    error: ConfigurationError


@dataclass(frozen=True, slots=True)
class DriverRun:
    """The flows of this node, and what to say about the file at the start."""

    flows: tuple[FlowRun, ...]
    notes: tuple[Note, ...]
    secrets: tuple[str, ...] = field(repr=False)
    clients: ClientTranslation = field(repr=False)
    """The reader of client properties."""
    refused: tuple[RefusedFlow, ...] = ()
    readings: tuple[FlowReading, ...] = field(default=(), repr=False)
    """The readings of which the flows were made, those that were refused too."""
    files: ConnectFiles | None = field(default=None, repr=False)
    """The connectors of a worker of Kafka Connect; None: the flows are of a driver's file."""
    storage: ConfigStorage | None = field(default=None, repr=False)
    """The topic whose connectors a distributed worker runs."""

    @property
    def process(self) -> ProcessSettings:
        """The settings that all flows of the process share."""
        return self.clients.options.process(self.clients.environment.jvm)

    @property
    def may_grow(self) -> bool:
        """True: flows may come while the process runs, so it goes on although none can run."""
        rest = self.process.rest
        return self.storage is not None or (rest.port is not None and rest.actions)

    def checked(self, check: Callable[[Settings], None]) -> DriverRun:
        """Return the same without the flows for which `check` raises ConfigurationError; raises where none is left."""
        runs: list[FlowRun] = []
        refused = list(self.refused)
        for each in self.flows:
            try:
                check(each.settings)
            except ConfigurationError as error:
                refused.append(RefusedFlow(each.pair, bool(each.settings.streams), error))
            else:
                runs.append(each)
        _require_some(runs, refused)
        return replace(self, flows=tuple(runs), refused=tuple(refused))


def load(line: DriverLine) -> DriverFile:
    """Read the file of a command line; raises ConfigurationError with Java's words."""
    file = properties_file.load(line.file)
    written = file.properties
    read = config_providers.resolve(written, config_providers.declared(written, trims=True))
    places = {name: file.place(name) for name in written}
    return DriverFile(read.properties, line.clusters, read.secrets, tuple(each.reason for each in read.kept), places)


def duplicate_keys(line: DriverLine) -> tuple[str, ...]:
    """Return the keys that the file has several times; Java takes the last one. Raises ConfigurationError."""
    names = [entry.name for entry in properties_file.load_entries(line.file)]
    return tuple(dict.fromkeys(name for name in names if names.count(name) > 1))


def release_of(file: DriverFile) -> DriverRelease:
    """Return the release of MirrorMaker 2 that is to be followed."""
    return "4" if file.properties.get(_RELEASE, "").strip() == "4" else "3.9"


def readings(file: DriverFile, options: OwnOptions) -> list[FlowReading]:
    """Return how this node's flows are read; raises ConfigurationError where the driver ends with 2."""
    flags = flags_for_all_flows(options)
    try:
        return [FlowReading.of_driver(file, pair, release_of(file), flags) for pair in file.pairs()]
    except NoFlows as error:
        for text in unused_keys.unread_switches(file):
            error.add_note(f"{text}.")
        raise


def translate_driver(file: DriverFile, clients: ClientTranslation) -> DriverRun:
    """Return what this node runs; raises ConfigurationError."""
    found = readings(file, clients.options)
    listening = rest_listeners.of_driver(file.properties, clients.options)
    said = (*remarks(file), *listening.remarks, *exactly_once_remarks(found))
    return translate_flows(found, replace(clients, options=listening.options), said)


def translate_connect(files: ConnectFiles, clients: ClientTranslation) -> DriverRun:
    """Return what the connectors of a worker run; raises ConfigurationError.

    Where all of them are paused or stopped, the first call of the admin port may resume them.
    """
    listening = rest_listeners.of_worker(files.worker, clients.options)
    files = files.with_flags(flags_for_all_flows(clients.options))
    found = files.flows(listening.options)
    said = (*files.remarks, *listening.remarks)
    storage = config_storage(files.worker, clients) if files.distributed else None
    found_run = translate_flows(found, replace(clients, options=listening.options), said)
    return replace(found_run, files=files, storage=storage)


def translate_flows(readings: Sequence[FlowReading], clients: ClientTranslation, said: Iterable[str] = ()) -> DriverRun:
    """Return what runs of these flows; `said` is for the start.

    A flow that cannot run does not end the others. Raises ConfigurationError where no flow is left that would copy.
    """
    runs: list[FlowRun] = []
    refused: list[RefusedFlow] = []
    notes: list[Note] = [Note(logging.WARNING, OWN, f"{text}.") for text in said]
    streams = 0
    notes += [Note(logging.WARNING, OWN, f"{text}.") for text in flow_remarks(readings)]
    for reading in readings:
        try:
            run = translate_flow(reading, clients, streams)
        except ConfigurationError as error:
            refused.append(RefusedFlow(reading.pair, reading.copies, error))
            continue
        streams += run.settings.streams
        runs.append(run)
        notes += run.notes
        notes += [Note(logging.WARNING, OWN, f"{run.pair}: {text}.") for text in run.settings.features.remarks]
        notes += [Note(logging.ERROR, MIRROR_MAKER_2, text) for text in _refusals(reading)]
    _require_some(runs, refused)
    secrets = {secret for run in runs for secret in run.secrets}
    return DriverRun(
        tuple(runs),
        tuple(dict.fromkeys(notes)),
        tuple(sorted(secrets)),
        clients,
        tuple(refused),
        tuple(readings),
    )


def remarks(file: DriverFile) -> Iterator[str]:
    """Yield what a user should know about the file at the start, a line each."""
    yield from file.kept
    yield from unused_keys.remarks(file)
    yield from left_out.rest_remarks(file.properties)
    old = [key for key in file.properties if key.rpartition("->")[2].partition(".")[2] in RENAMED or key in RENAMED]
    if old and release_of(file) == "4":
        yield f"{', '.join(old)}: MirrorMaker 2 of 4.0 and later ignores these names, and so does {_RELEASE}=4"
    elif old:
        yield f"{', '.join(old)}: these names are read, as up to 3.9; MirrorMaker 2 of 4.0 and later ignores them"


def exactly_once_remarks(readings: Sequence[FlowReading]) -> Iterator[str]:
    """Yield what to write for the flows that MirrorMaker 2 would copy exactly once, a line for each target.

    Its word alone does not turn it on: ours needs other rights, and does not start where MirrorMaker 2 has copied in
    between, so a file that runs could fail.
    """
    wanted: dict[str, list[str]] = {}
    for each in readings:
        is_wanted = each.worker.get(_EXACTLY_ONCE, "").strip().lower() == "enabled"
        if is_wanted and each.copies and each.own_flags.get(_OURS, "").strip().lower() != "true":
            wanted.setdefault(each.pair.target, []).append(f"{each.pair.prefix}{_OURS}=true")
    for target, lines in wanted.items():
        yield (
            f"{target}.{_EXACTLY_ONCE}: records are copied at least once here; to copy exactly once write "
            f"{' and '.join(lines)}, which needs other rights at {target}"
        )


def flow_remarks(readings: Sequence[FlowReading]) -> Iterator[str]:
    """Yield what a user should know about the flows at the start, a line each."""
    for each in (reading for reading in readings if reading.copies):
        yield from unfit_entries("topics", each.topics().include)
        yield from unfit_entries("topics.exclude", each.topics().exclude or ())
    yield from naming_remarks(readings)
    yield from transform_remarks(readings)
    yield from left_out.converter_remarks(readings)


def naming_remarks(readings: Sequence[FlowReading]) -> Iterator[str]:
    """Yield what the names of topics at the targets do not tell: circles, mixed copies, hidden origins."""
    by_policy = [each for each in readings if each.copies and not transform_properties.filters(each.transforms)]
    keeping = sorted((each.pair for each in by_policy if each.policy().t_becomes == "t"), key=str)
    for number, pair in enumerate(keeping):
        for other in keeping[number + 1 :]:
            if (other.source, other.target) == (pair.target, pair.source):
                yield (
                    f"{pair} and {other} both keep names: a topic that both mirror would go in a circle, and is left "
                    "out of both"
                )
            elif other.target == pair.target:
                yield f"{pair} and {other} both keep names: topics of one name are mixed in one topic of {pair.target}"
    for each in readings:
        policy = each.policy()
        separator = "." if policy.separator is None else policy.separator
        if each.copies and policy.name == DEFAULT and separator and separator in each.pair.source:
            yield (
                f"the alias {each.pair.source} holds the separator {separator!r}: names of its copies do not tell that "
                "they are from there, so they may be copied back; choose an alias without it"
            )


def transform_remarks(readings: Sequence[FlowReading]) -> Iterator[str]:
    """Yield what the transforms of a flow leave alone here, which Connect gives them."""
    for each in readings:
        also = [CONNECTORS[name] for name in each.writing_for_themselves if each.text(name, "transforms")]
        if also and each.copies:
            yield f"{each.pair}: transforms act on copied records, and not on those of {' and '.join(also)}"


def _refusals(reading: FlowReading) -> Iterator[str]:
    for connector, why in reading.refusals.items():
        yield f"Failed to configure {CONNECTORS[connector]} connector for {reading.pair}: {why}"


def _require_some(runs: Sequence[FlowRun], refused: Sequence[RefusedFlow]) -> None:
    """Raise the first error if no flow is left, or none that copies though one should."""
    copying = [each for each in refused if each.copies]
    if copying and not any(each.settings.streams for each in runs):
        raise copying[0].error
    if refused and not runs:
        raise refused[0].error
