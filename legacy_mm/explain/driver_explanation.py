"""Explains how a file of MirrorMaker 2's driver is understood; asks this host, and the clusters of its flows.

Every part is a frozen row without a secret, so that text and JSON are two ways to print a `DriverExplanation`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from legacy_mm.base.errors import ConfigurationError, EndlessCopy, HostError, LegacyMMError, one_line, printed_error
from legacy_mm.base.redaction import HIDDEN, Veil, is_secret_property
from legacy_mm.explain import host_inspection, source_inspection
from legacy_mm.explain.explanation import RUNS
from legacy_mm.explain.origin import values_in_force
from legacy_mm.explain.permissions import Permission, permissions
from legacy_mm.explain.source_inspection import Topics
from legacy_mm.features.connect_offsets.feature import CONNECT_OFFSETS
from legacy_mm.flow import client_checks
from legacy_mm.runtime.jvm.gateway import StartJvm
from legacy_mm.words.java_clients.client_properties.apply import Translated
from legacy_mm.words.legacy_tool.client_translation import ClientTranslation
from legacy_mm.words.mirror_maker_2 import (
    connect_files,
    distributed_worker,
    driver,
    rest_listeners,
    transform_properties,
    unused_keys,
)
from legacy_mm.words.mirror_maker_2.circle_guard import Circles
from legacy_mm.words.mirror_maker_2.connect_line import ConnectLine
from legacy_mm.words.mirror_maker_2.connector_properties import BY_NAME, CONNECTORS, RENAMED, is_client_name
from legacy_mm.words.mirror_maker_2.driver_file import CLUSTERS, NoFlows, Pair
from legacy_mm.words.mirror_maker_2.driver_line import DriverLine
from legacy_mm.words.mirror_maker_2.flow_reading import DEFAULT_LIST, FlowReading, ListWords
from legacy_mm.words.mirror_maker_2.flow_translation import FlowRun, translate_flow
from legacy_mm.words.mirror_maker_2.own_options import flags_for_all_flows
from legacy_mm.words.mirror_maker_2.unused_keys import UnusedKey
from legacy_mm.words.options.meant import meant

_FAILED = 2
_NOT_ASKED = "not asked"
_OURS = "legacy_mm: "
"""The beginning of a reason for which legacy_mm does not run a flow."""


@dataclass(frozen=True, slots=True)
class FlowExplanation:
    """One flow of this node."""

    source: str
    target: str
    copies: bool
    """False: only heartbeats, if anything."""
    topics: Mapping[str, object] = field(default_factory=dict)
    """include, and exclude: a list, or `default`."""
    groups: Mapping[str, object] = field(default_factory=dict)
    policy: Mapping[str, str] = field(default_factory=dict)
    """class, separator if the file has one, t_becomes."""
    transforms: Mapping[str, str] = field(default_factory=dict)
    """Alias -> what it does, and to which records; in their order."""
    features: Mapping[str, object] = field(default_factory=dict)
    tasks_max: str = ""
    group: str = ""
    """The group of the flow's nodes."""
    group_at: str = ""
    """The alias of the cluster that keeps it."""
    refused: Sequence[str] = ()
    """Connectors that Connect refuses, and why; and why legacy_mm would not run the flow."""
    tried_again: bool = False
    """True if what keeps the flow from running may change without its file: the driver starts it again and again."""
    ignored: Mapping[str, str] = field(default_factory=dict)
    """Keys of this flow without effect, and what was probably meant."""
    clients: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """consumer and producer of records: property -> value in force."""
    rights: Sequence[Permission] = ()
    unknown: Sequence[str] = ()
    """Facts that could not be found out, and the reasons."""
    found: Topics = Topics(why_not=_NOT_ASKED)
    """The clusters' answers about its topics and positions."""

    def untold(self) -> Iterator[str]:
        """Yield what could not be found out, from this host and from the clusters."""
        yield from self.unknown
        if self.clients and not self.found.answered and self.found.why_not != _NOT_ASKED:
            yield f"topics and positions: {self.found.why_not}"


@dataclass(frozen=True, slots=True)
class DriverExplanation:
    """A file as a whole."""

    driver_exit_code: int
    """The code of MirrorMaker 2's driver; 0: it runs until it is stopped."""
    outcome: str
    flows: Sequence[FlowExplanation] = ()
    ignored: Mapping[str, str] = field(default_factory=dict)
    """Keys without effect -> the key that was probably meant, or nothing."""
    connect_only: Mapping[str, str] = field(default_factory=dict)
    """Keys that reach only Kafka Connect's own clients, likewise."""
    not_for_records: Mapping[str, str] = field(default_factory=dict)
    """Keys that do not reach the producer of records, likewise."""
    duplicate_keys: Sequence[str] = ()
    """Keys that the file has several times; the last one counts."""
    warnings: Sequence[str] = ()
    """Sentences that a user should know at the start."""
    runs_here: bool = True
    """False: legacy_mm would end with 2, for a reason that is with the flow."""
    of_connect: bool = False
    """True for the files of Connect's standalone worker, which are no driver's."""

    @property
    def exit_code(self) -> int:
        """The code with which the command would end here; 0: it runs until it is stopped."""
        return 0 if self.runs_here else _FAILED

    @property
    def unknown(self) -> tuple[str, ...]:
        """Facts that could not be found out, and the reasons."""
        return tuple(f"{flow.source}->{flow.target}: {text}" for flow in self.flows for text in flow.untold())


class _Asked(NamedTuple):
    """Answers what the file does not say."""

    java: StartJvm
    clusters: bool
    """False: no cluster is asked."""


def explain_driver(line: DriverLine, clients: ClientTranslation, java: StartJvm, *, ask: bool) -> DriverExplanation:
    """Return the explanation of a command line of the driver; Java is asked about unusual patterns only, clusters if
    `ask`.
    """
    hidden: set[str] = set()
    found = _of_driver(line, replace(clients, hide=hidden.update), _Asked(java, ask))
    veiled: DriverExplanation = _veiled(found, Veil(hidden))
    return veiled


def explain_connect(line: ConnectLine, clients: ClientTranslation, java: StartJvm, *, ask: bool) -> DriverExplanation:
    """Return the explanation of a command line of Connect's standalone worker; `java` and `ask` as above."""
    hidden: set[str] = set()
    found = _of_connect(line, replace(clients, hide=hidden.update), _Asked(java, ask))
    veiled: DriverExplanation = _veiled(found, Veil(hidden))
    return veiled


def _veiled(part: Any, veil: Veil) -> Any:
    """Hide the secrets in every text of a part but the keys."""
    if isinstance(part, str):
        return veil.over_known(part)
    if isinstance(part, Mapping):
        return {key: _veiled(text, veil) for key, text in part.items()}
    if isinstance(part, Sequence):
        return [_veiled(each, veil) for each in part]
    if is_dataclass(part) and not isinstance(part, type):
        return replace(part, **{each.name: _veiled(getattr(part, each.name), veil) for each in fields(part)})
    return part


def _of_driver(line: DriverLine, clients: ClientTranslation, question: _Asked) -> DriverExplanation:
    try:
        file = driver.load(line)
    except LegacyMMError as error:
        return DriverExplanation(_FAILED, _refused(error), runs_here=False)
    clients.hide(file.secrets)
    keys = {
        "ignored": _hints(unused_keys.without_effect(file)),
        "connect_only": _hints(unused_keys.connect_only(file)),
        "not_for_records": _hints(unused_keys.not_for_records(file)),
    }
    common: dict[str, Any] = {**keys, "duplicate_keys": driver.duplicate_keys(line)}
    try:
        readings = driver.readings(file, clients.options)
    except NoFlows as error:
        return DriverExplanation(_FAILED, f"It would end: {printed_error(error)}", runs_here=False, **common)
    except LegacyMMError as error:
        missing = CLUSTERS not in file.properties
        what = 'no "clusters": MirrorMaker 2 needs the aliases of its clusters in this key' if missing else str(error)
        return DriverExplanation(_FAILED, f"It would end: {what}", runs_here=False, **common)
    flows = _flows(readings, clients, question, keys["ignored"])
    code, outcome, here = _outcome(readings, flows, "MirrorMaker 2")
    if why := next(filter(None, map(_worker_refusal, readings, flows)), ""):
        code, outcome = _FAILED, outcome if here else f"It would end: {why}"
    return DriverExplanation(
        code,
        outcome,
        flows,
        warnings=(
            *driver.remarks(file),
            *rest_listeners.of_driver(file.properties, clients.options).remarks,
            *driver.exactly_once_remarks(readings),
            *dict.fromkeys(driver.flow_remarks(readings)),
        ),
        runs_here=here,
        **common,
    )


def _of_connect(line: ConnectLine, clients: ClientTranslation, question: _Asked) -> DriverExplanation:
    try:
        flags = flags_for_all_flows(clients.options)
        files = connect_files.load(line, clients.hide, needs_secrets=False).with_flags(flags)
        listening = rest_listeners.of_worker(files.worker, clients.options)
        readings = files.flows(listening.options)
        storage = distributed_worker.config_storage(files.worker, clients) if files.distributed else None
    except LegacyMMError as error:
        return DriverExplanation(_FAILED, _refused(error), runs_here=False, of_connect=True)
    ignored = {key: _near(key) for each in files.all_connectors for key in (*each.unknown, *each.of_others)}
    flows = _flows(readings, clients, question, ignored)
    code, outcome, here = _outcome(readings, flows, "Kafka Connect")
    kept = () if storage is None else (f"the connectors are those of topic {storage.topic}, which is not read here",)
    said = (*files.remarks, *kept, *listening.remarks, *dict.fromkeys(driver.flow_remarks(readings)))
    return DriverExplanation(code, outcome, flows, ignored, warnings=said, runs_here=here, of_connect=True)


def _outcome(readings: Sequence[FlowReading], flows: Sequence[FlowExplanation], theirs: str) -> tuple[int, str, bool]:
    """Return the driver's exit code, what becomes of these flows, and True if legacy_mm runs some of them."""
    off = [flow for flow in flows if not flow.clients]
    if not off:
        return 0, RUNS, True
    left = [flow for flow in flows if flow.clients]
    if left and (any(flow.copies for flow in left) or not any(flow.copies for flow in off)):
        names = ", ".join(f"{flow.source}->{flow.target}" for flow in off)
        return 0, f"It would run without {names}: see what is refused", True
    if any(flow.tried_again for flow in off):
        return 0, "It would run, and try again and again to copy: see what is refused", True
    if fault := next((reading.worker_fault for reading in readings if reading.worker_fault), ""):
        return _FAILED, f"It would end: {fault}", False
    return 0, f"{theirs} would stay up; legacy_mm would end with 2: see what is refused", False


def _worker_refusal(reading: FlowReading, flow: FlowExplanation) -> str:
    """Return why the flow's worker could not make its own clients, those of the target: the driver would end."""
    lines = reading.lines
    for why in (why.removeprefix(_OURS) for why in flow.refused if why.startswith(_OURS)):
        for place, name, text in (
            (each, *row) for each in (*lines.target, *lines.general) for row in each.lines.items()
        ):
            named = why.startswith(f"{place.label}{name} = ") or (name.endswith(".location") and text.strip() in why)
            if is_client_name(name) and named:
                return why
    return ""


def _near(key: str) -> str:
    near = "" if key in BY_NAME else meant(key, BY_NAME)
    return RENAMED.get(near, near)


def _flows(
    readings: Sequence[FlowReading], clients: ClientTranslation, question: _Asked, ignored: Mapping[str, str]
) -> list[FlowExplanation]:
    """Return the flows, each with what is wrong with it; those that would copy in a circle are known together."""
    runs: list[FlowRun] = []
    flows = [_flow(reading, clients, question.java, ignored, runs) for reading in readings]
    circles = Circles(runs, lambda: lambda pattern: question.java().topic_matcher(pattern))
    for run in runs:
        number = next(at for at, each in enumerate(flows) if Pair(each.source, each.target) == run.pair)
        try:
            with suppress(HostError):  # where Java cannot start, nobody knows
                circles.check(run.pair)
            if question.clusters and run.settings.streams:
                flows[number] = _with_answers(flows[number], run, circles, question.java)
        except LegacyMMError as error:
            refused = (*flows[number].refused, f"{_OURS}{one_line(error)}")
            again = not isinstance(error, ConfigurationError | EndlessCopy)
            flows[number] = replace(flows[number], refused=refused, clients={}, tried_again=again)
    return flows


def _with_answers(flow: FlowExplanation, run: FlowRun, circles: Circles, java: StartJvm) -> FlowExplanation:
    """Return the flow with what its clusters say; raise LegacyMMError for what its start would be refused with."""
    leaves_out = partial(circles.closed_by, run.pair)
    try:
        client_checks.check_addresses(run.settings)
    except ConfigurationError as error:  # a name that nobody knows today may be known tomorrow
        return replace(flow, found=Topics(why_not=one_line(error)))
    try:
        with run.lines.named():
            return replace(flow, found=source_inspection.inspect((run.settings,), java, leaves_out))
    except HostError as error:
        return replace(flow, found=Topics(why_not=one_line(error)))


def _flow(
    reading: FlowReading,
    clients: ClientTranslation,
    java: StartJvm,
    ignored: Mapping[str, str],
    runs: list[FlowRun],
) -> FlowExplanation:
    """Return the flow; add what would run to `runs`."""
    pair = reading.pair
    refused = [f"{CONNECTORS[connector]}: {why}" for connector, why in reading.refusals.items()]
    made: dict[str, Any] = {}
    try:
        run = translate_flow(reading, clients, 0)
        clients.hide(run.secrets)
        with reading.lines.named():
            client_checks.check_logins(run.settings)
            made["unknown"] = host_inspection.inspect((run.settings,), java)
        made["clients"] = {
            "consumer": _visible(run.consumer),
            "producer": _visible(run.producer),
        }
        made["rights"] = permissions(run.settings)
        if reading.copies:
            made["group"], made["group_at"] = _group(run)
        runs.append(run)
    except LegacyMMError as error:
        refused.append(f"{_OURS}{one_line(error)}")
    if reading.copies:
        made["topics"], made["groups"] = _lists(reading.topics()), _lists(reading.groups())
        made["policy"] = _policy(reading)
        made["transforms"] = {each.name: transform_properties.sentence(each) for each in reading.transforms}
        made["tasks_max"] = reading.text("source", "tasks.max")
    own = {key: meant for key, meant in ignored.items() if _concerns(key, pair)}
    return FlowExplanation(
        pair.source, pair.target, reading.copies, features=reading.features(), refused=refused, ignored=own, **made
    )


def _group(run: FlowRun) -> tuple[str, str]:
    """Return the group that the flow's nodes join, and the alias of the cluster that keeps it."""
    stored = run.settings.features[CONNECT_OFFSETS]
    if stored is None:
        return run.settings.source.group_id, run.pair.source
    return stored.workers.group_id, run.pair.target


def _concerns(key: str, pair: Pair) -> bool:
    """Return True for a key that is written for this flow, for one of its clusters, or for all."""
    if "->" in key:
        return key.startswith(pair.prefix)
    return True


def _lists(words: ListWords) -> dict[str, object]:
    return {"include": list(words.include), "exclude": DEFAULT_LIST if words.exclude is None else list(words.exclude)}


def _policy(reading: FlowReading) -> dict[str, str]:
    policy = reading.policy()
    separator = {} if policy.separator is None else {"separator": policy.separator}
    becomes = "unsure: decided by the user's Java class" if policy.t_becomes is None else policy.t_becomes
    return {"class": policy.name, **separator, "t_becomes": becomes}


def _hints(keys: Sequence[UnusedKey]) -> dict[str, str]:
    return {each.key: each.meant for each in keys}


def _visible(client: Translated) -> dict[str, str]:
    found = values_in_force(client)
    return {each.name: HIDDEN if is_secret_property(each.name) else each.value for each in found}


def _refused(error: LegacyMMError) -> str:
    return "\n".join(filter(None, [f"It would end: {one_line(error)}", error.plain]))
