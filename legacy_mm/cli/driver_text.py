"""The text of `legacy-mm explain` for MirrorMaker 2's driver: what runs first, then each flow, then its clients."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from legacy_mm.cli.explain_text import answers, starts
from legacy_mm.cli.output import section
from legacy_mm.explain.driver_explanation import DriverExplanation, FlowExplanation
from legacy_mm.words.mirror_maker_2.flow_reading import DEFAULT_LIST

_DEFAULTS = "the default list"


def render_driver(explanation: DriverExplanation) -> str:
    """Return the whole text."""
    theirs = "Kafka Connect" if explanation.of_connect else "MirrorMaker 2"
    sections = [
        [explanation.outcome, _exit_code(explanation)],
        section("Flows", [_summary(flow) for flow in explanation.flows]),
        section("Refused", [(_name(flow), why) for flow in explanation.flows for why in flow.refused]),
        section("Not known", [(text,) for text in explanation.unknown]),
        section(f"Keys without effect, as with {theirs}", _keys(explanation.ignored)),
        section("Keys that only clients of Kafka Connect itself would get", _keys(explanation.connect_only)),
        section("Keys that do not reach the producer of records", _keys(explanation.not_for_records)),
        section(
            "Keys that are there several times; the last one counts", [(key,) for key in explanation.duplicate_keys]
        ),
        section("Take care", [(text,) for text in _cautions(explanation)]),
        *(lines for flow in explanation.flows for lines in _details(flow)),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _exit_code(explanation: DriverExplanation) -> str:
    """Return the line with the code of the driver, or of our own command, which is Connect's own worker for nobody."""
    if explanation.of_connect:
        return f"Exit code of legacy-mm connect: {explanation.exit_code}"
    return f"Exit code of MirrorMaker 2's driver: {explanation.driver_exit_code}"


def _name(flow: FlowExplanation) -> str:
    return f"{flow.source}->{flow.target}"


def _summary(flow: FlowExplanation) -> tuple[str, str, str]:
    if not flow.copies:
        beats = flow.features.get("heartbeats") is True
        return _name(flow), "copies nothing", f"heartbeats into {flow.target}" if beats else "no heartbeats either"
    becomes = f"topic t becomes {flow.policy['t_becomes']}"
    group = f"group {flow.group} at {flow.group_at}" if flow.group else "group unknown"
    return _name(flow), _list(flow.topics), f"{becomes}; {group}"


def _list(words: Mapping[str, object]) -> str:
    include, exclude = words["include"], words["exclude"]
    return f"{_joined(include)} but not {_DEFAULTS if exclude == DEFAULT_LIST else _joined(exclude)}"


def _joined(names: object) -> str:
    return ", ".join(map(str, names)) if isinstance(names, Sequence) and names else "none"


def _keys(keys: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(key, f"{meant} was probably meant" if meant else "") for key, meant in keys.items()]


def _cautions(explanation: DriverExplanation) -> Iterator[str]:
    """Yield the warnings that have no table of their own."""
    yield from (text for text in explanation.warnings if not text.startswith("These keys "))
    yield from (f"{_name(flow)}: {flow.found.attention}" for flow in explanation.flows if flow.found.attention)


def _features(flow: FlowExplanation) -> Iterator[tuple[str, str, str]]:
    """Yield the features of a flow; those that move groups say what they lack."""
    for name, value in flow.features.items():
        unmoved = name == "group_offsets" and value is False
        yield (
            name,
            str(value),
            "no group is moved at the target: sync.group.offsets.enabled=true does" if unmoved else "",
        )
    if flow.copies and "checkpoints" not in flow.features:
        yield "checkpoints", "absent", "no group's offsets are translated: a MirrorCheckpointConnector does"


def _details(flow: FlowExplanation) -> Iterator[list[str]]:
    if flow.found.answered:
        yield from answers(flow.found, flow=f"{_name(flow)}: ")
        yield starts(flow.found, f"{_name(flow)}: ")
    yield section(f"{_name(flow)}: transforms", list(flow.transforms.items()))
    yield section(f"{_name(flow)}: features", list(_features(flow)))
    if flow.copies:
        yield section(f"{_name(flow)}: groups", [(_list(flow.groups),)])
    rights = [(right.cluster, right.operation, right.resource, right.reason) for right in flow.rights]
    yield section(f"{_name(flow)}: rights needed", rights)
    if flow.copies:
        for client, properties in flow.clients.items():
            yield section(f"{_name(flow)}: the {client} of records", list(properties.items()))
