"""Named events: what lower layers say, without knowing the words in which it is printed.

`root_logger.py` turns an event into a line; `words.legacy_tool.messages` gives it the legacy tool's level, logger and
text. An event without a row there is printed in the words below, so nothing is silent because a table forgot it. Where
an event has a row, its words below are only printed by `connect-mirror-maker.sh` and `legacy-mm connect`, which have no
such table. Rule: the fields of an event never hold a secret.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

logger = logging.getLogger("legacy_mm")
TRACE = 5


@dataclass(frozen=True, slots=True)
class Event:
    """A thing worth saying: stable name, `logging` level, and our own text (`str.format` fields)."""

    name: str
    level: int
    text: str


def emit(event: Event, *, error: BaseException | None = None, **fields: object) -> None:
    """Log an event with its fields; `error` adds the cause (its traceback only at debug level)."""
    if logger.isEnabledFor(event.level):
        extra = {"event": event, "fields": fields}
        logger.log(event.level, event.text.format(**fields), exc_info=error, extra=extra, stacklevel=2)


STARTING = Event("starting", logging.INFO, "Starting mirror maker")
STREAM_STARTED = Event("stream-started", logging.INFO, "Stream {stream} started")
SUBSCRIBED = Event("subscribed", logging.INFO, "[{client}] Mirroring topics that match {pattern}")
SHUTDOWN_STARTED = Event("shutdown-started", logging.INFO, "Start clean shutdown.")
SHUTDOWN_FINISHED = Event("shutdown-finished", logging.INFO, "Mirror shut down")
STREAMS_STOPPING = Event("streams-stopping", logging.INFO, "All streams are told to stop")
STREAM_STOPPING = Event("stream-stopping", logging.INFO, "Stream {stream} is told to stop")
FLUSHING = Event("flushing", logging.INFO, "Stream {stream}: the copying ends")
COMMITTING_LAST = Event("committing-last", logging.INFO, "Stream {stream}: last commit")
LEAVING = Event("leaving", logging.INFO, "Stream {stream} leaves the group")
STREAM_STOPPED = Event("stream-stopped", logging.INFO, "Stream {stream} stopped")
STREAM_OVER = Event("stream-over", logging.INFO, "Stream {stream} is over")
CLOSING = Event("closing", logging.INFO, "Spark and the control channel are closed")
STREAM_FAILED = Event("stream-failed", logging.ERROR, "Stream {stream} failed: {reason}")
SENDING_ENDED = Event("sending-ended", logging.INFO, "A record could not be sent: no more is sent")
STREAM_EXITED = Event("stream-exited", logging.ERROR, "Stream {stream} failed, so its flow stops")
HOST_FAILED = Event("host-failed", logging.ERROR, "All flows of this process stop: {reason}")
COMMIT_SKIPPED = Event("commit-skipped", logging.INFO, "Offsets are not committed after this error")
PATTERN_INVALID = Event("pattern-invalid", logging.ERROR, "Invalid topic pattern: {pattern}")
PATTERN_ADVICE = Event("pattern-advice", logging.WARNING, "{text}")
SEND_FAILED = Event(
    "send-failed",
    logging.ERROR,
    "Record for topic {topic} (key {key_size}, value {value_size}) could not be sent: {reason} ({code})",
)
NOT_SENT = Event(
    "not-sent",
    logging.WARNING,
    "Not sent to topic {topic}: {place}, {what} ({reason}); {outcome}. To mend it {remedy}",
)
RECORD_WAITS = Event(
    "record-waits",
    logging.ERROR,
    "The target does not take {partition} at offset {offset}, a record {time}, into topic {topic}: {reason} It waits, "
    "and what follows it in its partition; it is sent again in {seconds} s. To mend it {remedy}; or set "
    "errors.tolerance=all to leave such records out",
)
RECORD_GOES_ON = Event("record-goes-on", logging.INFO, "The target has {partition} at offset {offset} now")
PARTITION_WAITS = Event(
    "partition-waits",
    logging.ERROR,
    "{partition} waits at offset {offset}, a record {time}: {reason}; all other partitions go on. It is tried again in "
    "{seconds} s. To mend it {remedy}",
)
PARTITION_GOES_ON = Event("partition-goes-on", logging.INFO, "{partition} goes on at offset {offset}")
ENTRIES_UNMATCHED = Event(
    "entries-unmatched",
    logging.WARNING,
    "Nothing is copied for {entries}: no topic of the source that may be mirrored has such a name, or the principal "
    "may not see it",
)
ENTRIES_UNMATCHED_HERE = Event(
    "entries-unmatched-here",
    logging.INFO,
    "Nothing is copied by this flow for {entries}: no topic of its source that may be mirrored has such a name",
)
TOPICS_CHANGED = Event("topics-changed", logging.INFO, "Topics now mirrored: {topics}")
ASSIGNED = Event("assigned", logging.INFO, "Stream {stream}, generation {generation}: assigned {partitions}")
REVOKED = Event("revoked", logging.INFO, "Stream {stream}, generation {generation}: revoked {partitions}")
LOST = Event("lost", logging.WARNING, "Stream {stream}, generation {generation}: lost {partitions}; not committed")
KERNELS_UNCOMPILED = Event(
    "kernels-uncompiled",
    logging.WARNING,
    "Records are copied by uncompiled Python, many times slower: {reason}. Install a C compiler, then legacy_mm again",
)
COPY_STARTED = Event("copy-started", logging.INFO, "Stream {stream} copies from {offsets} (worker {worker})")
COPY_LOST = Event(
    "copy-lost", logging.WARNING, "Stream {stream}: copy job lost ({reason}); copying again from the safe offsets"
)
COMMITTING = Event("committing", TRACE, "Stream {stream} commits {offsets}")
COMMITTED = Event("committed", logging.DEBUG, "Stream {stream} committed {offsets}")
COMMIT_RETRY = Event(
    "commit-retry",
    logging.WARNING,
    "Stream {stream}: commit failed ({reason}); it will be tried again (retry {retries}, last commit {last_commit})",
)
COMMIT_REBALANCED = Event(
    "commit-rebalanced", logging.WARNING, "Stream {stream}: commit refused, the group has rebalanced ({reason})"
)
TOPICS_UNKNOWN = Event(
    "topics-unknown", logging.WARNING, "The source did not say whether topics still exist, so their offsets are kept"
)
RESUMED_FROM_CONNECT = Event(
    "resumed-from-connect",
    logging.INFO,
    "The flow continues where MirrorMaker 2 has stopped: {count} partitions from topic {topic}",
)
NODES_DIFFER = Event(
    "nodes-differ",
    logging.WARNING,
    "[{client}] the nodes of group {group} have files that choose different topics: {result}",
)
CONNECTOR_LEFT_ALONE = Event(
    "connector-left-alone",
    logging.WARNING,
    "Connector {connector} in topic {topic} is left alone: {class_name} is none of MirrorMaker 2's connectors",
)
CONNECTOR_UNUSABLE = Event(
    "connector-unusable",
    logging.ERROR,
    "Connector {connector} cannot run as it stands in topic {topic}, and what ran before goes on: {reason}",
)
POSITION_OF_ANOTHER_LOG = Event(
    "position-of-another-log",
    logging.WARNING,
    "Offset {offset} of {partition} in topic {topic} is not of the log that the source has now, so it is copied from "
    "its first record: {why}",
)
COPY_COMES_TWICE = Event(
    "copy-comes-twice",
    logging.WARNING,
    "{topic} has no position in this flow, and its copy {copy} at the target has records up to {time}: {count} offsets "
    "of the source are not younger, so they seem to be there, and would come twice. To begin behind them, {how}",
)
COPY_WOULD_LACK = Event(
    "copy-would-lack",
    logging.WARNING,
    "{topic} has no position in this flow, and {begins}: {count} offsets of the source are younger "
    "than the last record of its copy {copy} at the target, of {time}, and would be skipped. To have them, {how}",
)
EARLIER_COPIES_LEFT = Event(
    "earlier-copies-left", logging.WARNING, "{count} more topics without a position have copies: legacy-mm plan has all"
)
EARLIER_COPIES_UNKNOWN = Event(
    "earlier-copies-unknown",
    logging.INFO,
    "It is not known if copies at the target hold records of topics that have no position yet: {reason}",
)
FLOW_STARTED = Event("flow-started", logging.INFO, "Flow {flow} runs: {connectors}")
FLOW_FAILED = Event(
    "flow-failed",
    logging.ERROR,
    "Flow {flow} failed and starts again in {seconds:g} s, the other flows go on: {reason}",
)
FLOW_REFUSED = Event(
    "flow-refused", logging.ERROR, "Flow {flow} does not run until its configuration is changed: {reason}"
)
CIRCLE = Event(
    "circle",
    logging.WARNING,
    "Topic {topic} is not mirrored by {flow}, because it would come back to {source} {how} by {way}: exclude it from "
    "one of these flows, or {remedy}",
)
FROM_HERE = Event(
    "from-here",
    logging.WARNING,
    "Topic {topic} is not mirrored, because its name holds {alias}, the alias of the source, and so says that it is a "
    "copy of a topic of the source: give source.cluster.alias another value, or leave the topic out by the pattern",
)
FLOW_STOPPED = Event("flow-stopped", logging.INFO, "Flow {flow} stopped")
OFFSET_RESET = Event(
    "offset-reset", logging.INFO, "[{client}] {partition} has no committed offset: copying from {offset}"
)
TOPICS_VANISHED = Event(
    "topics-vanished", logging.WARNING, "Offsets of topics that no longer exist are forgotten: {topics}"
)
NOT_COMMITTED = Event("not-committed", logging.ERROR, "Not committed before the stop: {partition} at offset {offset}")
STOP_OVERDUE = Event("stop-overdue", logging.ERROR, "Stop not finished after {seconds:g} s: ending without {what}")
GAP = Event(
    "gap",
    logging.WARNING,
    "Gap in {partition}: from {start} to {end}, {count} offsets were not copied, reason: {reason} "
    "(the log holds {low} to {high}; {detail})",
)
SKIPPED = Event(
    "skipped",
    logging.WARNING,
    "Skipped in {partition}: from {start} to {end}, {count} offsets were not copied, reason: no offset was committed "
    "there, and auto.offset.reset is latest",
)
BEGUN_AT_TIME = Event(
    "begun-at-time",
    logging.INFO,
    "{partition} begins at offset {start}, its first of {time} or later: {count} offsets before it are not copied, as "
    "start.from says",
)
ANSWER_LOST = Event(
    "answer-lost",
    logging.WARNING,
    "It is not known whether records for {partition} have arrived: the answer was lost, and the log cannot be read "
    "({reason}). They are sent again and may come twice; Read on the topic at the target would prevent it",
)
ONE_CLUSTER = Event("one-cluster", logging.WARNING, "Attention: {what}")
IDENTITY_UNKNOWN = Event(
    "identity-unknown", logging.WARNING, "It is not known yet whether source and target are one cluster: {reason}"
)
COPY_EMPTY = Event(
    "copy-empty",
    logging.WARNING,
    "The copy of {partition} in topic {topic} of the target was empty when copying went on at offset {reached}: the "
    "{count} offsets from {begin} on, which the source still holds, are not there and are not copied again. They are "
    "in another topic if copies had other names before; if that topic was deleted by mistake, stop all mirrors of this "
    "flow, set it back to {begin}, and start again",
)
COPY_FULL = Event(
    "copy-full",
    logging.WARNING,
    "Topic {topic} of the target had {count} offsets in this partition before the first record of {partition} came, "
    "which this mirror copies from its begin, because its group has no offset there: what is there of this source "
    "comes twice. Stop the mirror if that is not meant; before a group has begun, legacy-mm plan says where it goes on "
    "behind such a copy",
)
COPY_PERHAPS_EMPTY = Event(
    "copy-perhaps-empty",
    logging.WARNING,
    "What the message handler made of {partition} is the first in its partition of topic {topic} of the target, when "
    "copying went on at offset {reached}: if that topic was deleted, what it had of the {count} offsets from {begin} "
    "on, which the source still holds, may be missing there and is not made again; if it was deleted by mistake, stop "
    "all mirrors of this flow, set it back to {begin}, and start again",
)
TOPIC_RECREATED = Event(
    "topic-recreated",
    logging.WARNING,
    "Gap in {topic}: the topic was deleted and recreated (id {before}, now {now}); what the old one held and was "
    "not copied is gone",
)
RECEIPTS_FAILED = Event(
    "receipts-failed", logging.WARNING, "Receipts cannot be written ({reason}); going on without them"
)
WITHOUT_LISTENER = (
    "{count} partitions have leader brokers without a matching listener, including {partitions}: let these brokers "
    "advertise the listener that bootstrap.servers names"
)
"""Java's words, and what to do; errors have them, too."""
LISTENER_MISSING = Event("listener-missing", logging.WARNING, "[{client}] " + WITHOUT_LISTENER)
CLIENT_ERROR = Event("client-error", logging.WARNING, "[{client}] {text}")
PEER_TOO_LATE = Event(
    "peer-too-late", logging.INFO, "Control channel: {peer} came too late: its copy job was given up before"
)
PEER_NEVER_SPOKE = Event("peer-never-spoke", logging.DEBUG, "Control channel: {peer} is gone before it said a word")
PEER_REFUSED = Event("peer-refused", logging.WARNING, "Control channel: {peer} refused: {reason}")
IDEMPOTENCE_REFUSED = Event(
    "idempotence-refused",
    logging.WARNING,
    "The target refuses an idempotent producer ({reason}); going on with one request in flight and without it",
)
SEVERAL_KEYS = Event("several-keys", logging.WARNING, "{store} holds {count} keys; the one of {alias} is used")
TRUST_WITHOUT_ROOT = Event(
    "trust-without-root",
    logging.WARNING,
    "{store} trusts {name} but not its issuer: add the issuers up to the root, or the membership in the group, which "
    "librdkafka keeps here (cooperative-sticky, group.protocol=consumer), refuses the brokers",
)
STORES_CHANGED = Event(
    "stores-changed",
    logging.INFO,
    "The mirror uses the changed key stores from now on ({files}): it creates new clients and copies on",
)
STORES_UNFIT = Event(
    "stores-unfit",
    logging.WARNING,
    "The mirror does not use the changed key stores yet ({files}): {reason}; it keeps the earlier ones and tries again",
)
MBEANS_FAILED = Event("mbeans-failed", logging.WARNING, "MBeans cannot be published ({reason}); going on without them")
SCRAPE_FAILED = Event("scrape-failed", logging.WARNING, "A request to the port of the metrics failed ({reason})")
REST_FAILED = Event("rest-failed", logging.WARNING, "A request to --admin.port failed: {request} ({reason})")
REST_OPEN = Event(
    "rest-open", logging.WARNING, "--admin.port listens at {address} without {lacks}, and other hosts may reach it"
)
REST_ACTION = Event("rest-action", logging.INFO, "{who} at {address} asked for {request}: {outcome}")
RELOADED = Event("reloaded", logging.INFO, "Reload, {what}: {change}")
REST_LOGIN_FAILED = Event(
    "rest-login-failed",
    logging.WARNING,
    "{who} at {address} gave no right token to --admin.port, {tries} times since the last right one",
)
REST_TOKEN_OPEN = Event(
    "rest-token-open",
    logging.WARNING,
    "--admin.token.file {file} can be read by other users of this host: chmod 600 it",
)
REST_CERTIFICATE_UNFIT = Event(
    "rest-certificate-unfit",
    logging.WARNING,
    "--admin.port keeps its earlier certificate, the changed one cannot be used: {reason}",
)
JVM_OPTION_LEFT_OUT = Event(
    "jvm-option-left-out", logging.WARNING, "Java option {option} is left out: Java {release} does not take it"
)
JVM_HEAP_RAISED = Event(
    "jvm-heap-raised",
    logging.INFO,
    "The Java heap would be {bytes} bytes; it is raised to 512 MB, the least that Spark takes",
)
JAVA_PASSED_OVER = Event(
    "java-passed-over",
    logging.WARNING,
    "JAVA_HOME={home} is ignored: it holds no Java {least} or newer that runs; {java} is used",
)
QUARANTINED = Event(
    "quarantined",
    logging.WARNING,
    "The message handler failed on {partition} at offset {offset}, a record {time}, which goes into the quarantine: "
    "{reason}",
)
TOLERATED = Event(
    "tolerated",
    logging.WARNING,
    "The transforms failed on {partition} at offset {offset}, a record {time}, which is left out "
    "(errors.tolerance=all): {reason}",
)
REFUSED = Event(
    "refused",
    logging.WARNING,
    "The target refuses {partition} at offset {offset}, a record {time}, which goes into the quarantine ({reason}); "
    "to mend it {remedy}",
)
QUARANTINE_REFUSED = Event(
    "quarantine-refused",
    logging.WARNING,
    "{topic} does not take {partition} at offset {offset}, which goes into {file} ({reason}); to mend it {remedy}",
)
QUARANTINE_LIMITED = Event(
    "quarantine-limited",
    logging.WARNING,
    "Some refused records go into the file and not into the topic of the quarantine: {text}",
)
QUARANTINE_UNKNOWN = Event(
    "quarantine-unknown", logging.INFO, "It is not known which records the quarantine's topic refuses: {reason}"
)
DUTY_CHANGED = Event("duty-changed", logging.INFO, "[{duty}] {change}")
DUTY_CHANGED_WITH_EFFECT = Event("duty-changed-with-effect", logging.WARNING, "[{duty}] {change}: {effect}")
DUTY_FAILED = Event("duty-failed", logging.WARNING, "[{duty}] {reason}; it is tried again")
DUTY_NOTED = Event("duty-noted", logging.INFO, "[{duty}] {note}")
PROPERTIES_REPLACED = Event(
    "properties-replaced",
    logging.WARNING,
    "The brokers of the {name} are older than 2.3 and can only replace all properties of a topic at once: each change "
    "is sent with all other properties that the topic has, so let nobody else change them at the same moment",
)
OFFSETS_LOST = Event("offsets-lost", logging.WARNING, "[offset-syncs] {reason}")
COMPACTED_UNMADE = Event(
    "compacted-unmade",
    logging.WARNING,
    "[topic-creation] topic {topic} is still missing at the target; its source is compacted, so it waits and is not "
    "left to the brokers, which would make it with cleanup.policy=delete",
)
TOPIC_UNMADE = Event(
    "topic-unmade",
    logging.WARNING,
    "[topic-creation] topic {topic} is still missing at the target and is left to its brokers: those that create "
    "topics make it with their defaults; where its name or a right keeps them from it, too, its records wait",
)
TOPICS_MISSING = Event(
    "topics-missing",
    logging.WARNING,
    "[{client}] The target does not have these topics yet (answer {number}): {problems}",
)
TOPIC_WAITS = Event(
    "topic-waits",
    logging.WARNING,
    "Topic {topic} cannot be written at the target ({reason}). Its records wait at the source, other topics are "
    "copied; {advice}",
)
TOPIC_GOES_ON = Event("topic-goes-on", logging.INFO, "Topic {topic} can be written at the target again")
TOPICS_LEFT_OUT = Event(
    "topics-left-out",
    logging.WARNING,
    "[{client}] Not all members of the group want these topics, so nobody copies them until all do: {topics}",
)
TOPICS_TAKEN_IN = Event(
    "topics-taken-in", logging.INFO, "[{client}] All members of the group want the same topics again, and copy them"
)
NOT_COPIED = Event(
    "not-copied",
    logging.WARNING,
    "Not copied before the stop: {partitions} partitions wait for topic {topic} at the target ({reason}); what was "
    "copied of them is committed, and the next start continues there",
)
EXACTLY_ONCE = Event(
    "exactly-once",
    logging.INFO,
    "Exactly once: records and positions are committed at the target every {seconds} s, positions in topic {topic}, by "
    "transaction version {version}; of the source only committed records are read, and readers of the target must set "
    "isolation.level=read_committed",
)
EXACTLY_ONCE_OFF = Event(
    "exactly-once-off",
    logging.WARNING,
    "Exactly once is off here, and it has committed the offsets of {count} partitions {into}, {partition} the first: "
    "what a killed mirror has copied since then comes twice; nothing does if all were stopped with TERM. Next time, "
    "call legacy-mm exactly-once retire before such a start: it gives {name} the positions of topic {topic}",
)
POSITIONS_AT_RISK = Event("positions-at-risk", logging.WARNING, "Exactly once: {what}")
TRANSACTION_HANGS = Event(
    "transaction-hangs",
    logging.WARNING,
    "Exactly once: the transaction of {transactional_id} has not ended for {seconds} s (CONCURRENT_TRANSACTIONS): look "
    "at it with kafka-transactions.sh describe --transactional-id, at its coordinator, broker {broker}, and at "
    "partition {partition} of __transaction_state; a partition without a leader that took part in it holds it up; "
    "other bundles go on; its state: {state}",
)
COORDINATOR_LOADS = Event(
    "coordinator-loads",
    logging.WARNING,
    "Exactly once: the coordinator of {transactional_id}, broker {broker}, has answered COORDINATOR_LOAD_IN_PROGRESS "
    "for {seconds} s: if its log says that loading partition {partition} of __transaction_state has failed, restart "
    "this broker; other bundles go on",
)
BUNDLE_STANDS_STILL = Event(
    "bundle-stands-still",
    logging.WARNING,
    "Exactly once: the bundle whose positions are in {positions} has copied nothing for {seconds} s ({state}); "
    "{advice}; other bundles go on",
)
STABLE_OFFSET_STANDS_STILL = Event(
    "stable-offset-stands-still",
    logging.WARNING,
    "Nothing of {partition} is read beyond offset {offset}, though its log ends at {end}: a transaction there has been "
    "open for {seconds} s, and isolation.level=read_committed waits for its end; if it stays so, look whether it hangs "
    "with kafka-transactions.sh find-hanging --topic {topic} --partition {number} at the source",
)
TRANSACTION_GIVEN_UP = Event(
    "transaction-given-up",
    logging.WARNING,
    "Exactly once: what bundle {bundle} has not committed was given up ({reason}); it is copied again, and a "
    "read_committed reader sees none of it twice",
)
GROUP_LEFT_OUT = Event(
    "group-left-out",
    logging.WARNING,
    "[checkpoints] group {group} has no checkpoint for {count} partitions, such as {places}: nothing is known of "
    "these; legacy-mm translate --group {group} --explain says more, and with --from-first legacy-mm cutover takes it "
    "to the first records of the copies",
)
GROUP_STAYS = Event(
    "group-stays",
    logging.WARNING,
    "[group-offsets] group {group} was rewound at the source and stays where it is at the target for {count} "
    "partitions, such as {place} at {offset} with a checkpoint at {checkpoint}: no group is moved back; to read these "
    "records again there, stop its consumers and run kafka-consumer-groups.sh --bootstrap-server TARGET "
    "--group {group} --topic {topic}:{number} --reset-offsets --to-offset {checkpoint} --execute",
)
HEARTBEATS_FAILED = Event(
    "heartbeats-failed",
    logging.WARNING,
    "No heartbeat reaches the target: {reason}; the mirror sends the next as soon as it can",
)
HEARTBEATS_RESUMED = Event("heartbeats-resumed", logging.INFO, "Heartbeats reach the target again")
READ_CUT_SHORT = Event("read-cut-short", logging.WARNING, "The time was over before the end of {topic} was reached")
MIRROR_RECORDS_SKIPPED = Event(
    "mirror-records-skipped",
    logging.WARNING,
    "{count} records of {topic} cannot be read as {kind} and are ignored; the first is at offset {offset}",
)

INTERFACES_FETCHED = Event(
    "interfaces-fetched",
    logging.WARNING,
    "Fetching the Java interfaces of Kafka {version} from Maven Central into {folder} (first time only, up to 95 MB, "
    "a minute or two). LEGACY_MM_KAFKA_HOME names a Kafka that has them",
)

WAITS = (INTERFACES_FETCHED,)
"""Events that say why nothing happens for a while."""
BY_NAME = {event.name: event for event in list(globals().values()) if isinstance(event, Event)}


def emit_forwarded(name: str, fields: Mapping[str, Any]) -> None:
    """Log an event that another process forwarded by its name; nothing for a name of another version."""
    if (event := BY_NAME.get(name)) is not None:
        emit(event, **fields)
