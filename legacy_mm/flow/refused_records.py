"""Records that the target would refuse, found out beforehand: of the copies for `plan`, of the quarantine's topic for
`plan` and at the start.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import LegacyMMError, one_line
from legacy_mm.clients.admin.admin import NativeAdmin
from legacy_mm.clients.admin.cluster_admin import Admin
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.flow_topics import FlowTopics
from legacy_mm.logs import events
from legacy_mm.policies.changes import Change, CreateTopic, SetConfig
from legacy_mm.policies.record_limits import Properties, by_default, limits, listed, narrower_copies


def quarantine_topic(settings: Settings) -> str | None:
    """Return the topic for refused records; None where there is none."""
    return settings.quarantine.topic if settings.quarantine.refused else None


def quarantine_limits(settings: Settings, target: Admin, deadline: Deadline) -> Iterator[str]:
    """Yield what the quarantine's topic refuses itself, as the topics do whose records it is for; raise HostError."""
    topic = quarantine_topic(settings)
    if topic is None:
        return
    file, most = settings.quarantine.file, settings.target.client.produce.max_request_bytes
    for found in limits(_properties(target, [topic], deadline).get(topic, {}), most):
        yield (
            f"{found.text(f'topic {topic}, the quarantine,')}; such records go into {file}. Give the topic another "
            f"{found.property_name} to have them there"
        )


def tell_of_quarantine(settings: Settings, deadline: Deadline) -> None:
    """Log at the start what the quarantine's topic refuses; a target that does not tell is no failure."""
    try:
        target = NativeAdmin("target", settings.target.connection)
        for text in quarantine_limits(settings, target, deadline):
            events.emit(events.QUARANTINE_LIMITED, text=text)
    except LegacyMMError as error:
        events.emit(events.QUARANTINE_UNKNOWN, reason=one_line(error))


def narrower_limits(
    settings: Settings,
    names: FlowTopics,
    topics: Collection[str],
    ends: tuple[Admin, Admin],
    planned: Iterable[Change],
    deadline: Deadline,
) -> Iterator[str]:
    """Yield what copies refuse although their topics may hold it, and what becomes of it; raise HostError.

    `ends` are source and target; the copies are taken as they are once what is `planned` is done.
    """
    source, target = ends
    at_source = _properties(source, topics, deadline)
    copies = {names.at_target(topic): topic for topic in topics}
    own = {copy: dict(found) for copy, found in _properties(target, copies, deadline).items()}
    for change in planned:
        if isinstance(change, SetConfig) and change.topic in own:
            own[change.topic][change.name] = change.new
        elif isinstance(change, CreateTopic) and change.topic in own:
            own[change.topic] |= change.configs
    pairs = {copy: (at_source.get(topic, {}), own[copy]) for copy, topic in copies.items() if copy in own}
    for found, some in narrower_copies(pairs).items():
        yield f"{found.text(listed(some))}, though the source may hold some; {_outcome(settings)}"


def _outcome(settings: Settings) -> str:
    if settings.quarantine.refused:
        return "such a record goes into the quarantine"
    if settings.target.records_may_wait:
        return "such a record waits, and its partition with it"
    return "such a record ends the mirror" if settings.target.abort_on_send_failure else "such a record is lost"


def _properties(cluster: Admin, topics: Collection[str], deadline: Deadline) -> Mapping[str, Properties]:
    """Return the properties of each topic, of a missing one those that the brokers would give it."""
    present = cluster.topics(deadline)
    found, _ = cluster.properties([topic for topic in topics if topic in present], deadline)
    configs = {topic: {each.name: each.value or "" for each in rows} for topic, rows in found.items()}
    if missing := [topic for topic in topics if topic not in present]:
        configs |= dict.fromkeys(missing, dict(by_default(cluster.broker_properties(deadline))))
    return configs
