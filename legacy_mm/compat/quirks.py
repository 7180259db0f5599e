"""The ledger: where this tool knowingly differs from the old one. Tests name the id of the row
they show.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quirk:
    """One known difference."""

    id: str
    legacy: str
    """What the old tool does."""
    ours: str
    """What we do."""
    reason: str
    test: str
    """`tests/...::name`."""


_TRANSLATE = "tests/unit/compat/test_translate.py::"
_RECORDED = "tests/unit/cli/test_recorded_calls.py::"
_PRODUCER = "tests/unit/compat/test_client_properties.py::"

QUIRKS = (
    Quirk(
        "timestamp-zero",
        "keeps a record's timestamp of 0",
        "sends such a record with the present time and says so once per partition",
        "librdkafka reads 0 as: no timestamp given",
        "tests/side_by_side/test_records.py::test_timestamp_zero",
    ),
    Quirk(
        "buffer-memory-divided",
        "one producer of buffer.memory bytes for all streams",
        "one producer per stream, each with its share of buffer.memory, large enough for max.request.size",
        "a stream's copying is a process of its own",
        _PRODUCER + "test_buffer_memory_is_divided",
    ),
    Quirk(
        "in-flight-by-meaning",
        "one request in flight, by default or by max.in.flight.requests.per.connection=1",
        "an idempotent producer with five; --producer.tuning literal takes a 1 in the file as 1",
        "it keeps the same order; with one, librdkafka sends one partition per round trip",
        _PRODUCER + "test_in_flight_is_read_by_meaning",
    ),
    Quirk(
        "batch-size-by-meaning",
        "batch.size is the upper bound of a batch, 16384 by default",
        "at least 262144 is used; --producer.tuning literal takes the number",
        "Java packs many batches into a request, librdkafka sends one",
        _PRODUCER + "test_batch_size_is_a_lower_bound",
    ),
    Quirk(
        "linger-default",
        "linger.ms is 0 unless set",
        "5 ms unless set",
        "librdkafka would send single records in requests of their own",
        _PRODUCER + "test_defaults_are_those_of_the_map",
    ),
    Quirk(
        "commit-in-rebalance",
        "a commit that falls into a rebalance ends the process with 255",
        "it is tried again",
        "nothing is lost by it, and the copying need not stop",
        "tests/unit/controlplane/test_commits.py::test_during_a_rebalance_the_offsets_wait_for_the_next_generation",
    ),
    Quirk(
        "blocked-target-keeps-membership",
        "a thread that waits for its target polls no more and falls out of the group",
        "the membership goes on polling and keeps its partitions",
        "membership and copying are two processes",
        "tests/faults/test_recovery.py::test_target_down_for_30_seconds",
    ),
    Quirk(
        "max-poll-interval-clamped",
        "takes max.poll.interval.ms up to Integer.MAX, and below session.timeout.ms",
        "one day at most, and at least session.timeout.ms; says so",
        "librdkafka takes no other values",
        _PRODUCER + "test_max_poll_interval_is_clamped",
    ),
    Quirk(
        "number-clamped",
        "takes any number a property's type allows",
        "takes the nearest one librdkafka has, and says so",
        "librdkafka's ranges are narrower",
        _PRODUCER + "test_numbers_are_clamped_and_said",
    ),
    Quirk(
        "null-pointer-lines",
        "every start-up error is followed by a NullPointerException, some by a second one",
        "only the error itself is printed",
        "they were accidents, and nobody can act on them",
        _RECORDED + "test_recorded_calls",
    ),
    Quirk(
        "instance-id-per-stream",
        "all streams share group.instance.id, so all but one are fenced and the process ends",
        "the stream's number is appended when there are several",
        "static membership with several streams could not be used at all",
        "tests/unit/test_wiring.py::test_instance_id_per_stream",
    ),
    Quirk(
        "empty-group-id",
        "runs with an empty group.id, up to 2.1 also without one",
        "refuses it, exit 1",
        "librdkafka ends the whole process",
        _TRANSLATE + "test_empty_group_id",
    ),
    Quirk(
        "auto-commit-after-copy",
        "enable.auto.commit=true also commits records that were read but not yet written",
        "commits on our interval or auto.commit.interval.ms, whichever is shorter, and only what is written",
        "the file asks for frequent commits, not for loss",
        _TRANSLATE + "test_enable_auto_commit",
    ),
    Quirk(
        "transactional-id-refused",
        "starts with transactional.id and ends with 255 at the first record",
        "refuses it at start, exit 1",
        "no transaction would ever begin",
        _PRODUCER + "test_refused_by_name",
    ),
    Quirk(
        "partitioner-without-keys",
        "RoundRobinPartitioner, UniformStickyPartitioner and partitioner.ignore.keys fill partitions in turn",
        "each record goes to a partition chosen by chance",
        "librdkafka's nearest; the spread is as even",
        _PRODUCER + "test_partitioners_without_keys",
    ),
    Quirk(
        "java-code-refused",
        "loads interceptors, partitioners, assignors, reporters and TLS engines by class name",
        "refuses the ones that could change what is mirrored, by name; ignores metrics",
        "this client is not Java",
        _PRODUCER + "test_refused_by_name",
    ),
    Quirk(
        "native-properties",
        "reports librdkafka.<name> as not used",
        "passes <name> on to librdkafka, unless it would break a guarantee",
        "the way to native tuning; no Java property begins so",
        _PRODUCER + "test_native_properties",
    ),
    Quirk(
        "handler-refused",
        "runs a message handler; a missing class ends the process at the first record",
        "refuses --message.handler, exit 255",
        "handlers come in a later release",
        _TRANSLATE + "test_handler_and_listener_are_refused",
    ),
    Quirk(
        "listener-refused",
        "runs a rebalance listener",
        "refuses --consumer.rebalance.listener, exit 1",
        "Java listeners cannot be run yet",
        _TRANSLATE + "test_handler_and_listener_are_refused",
    ),
    Quirk(
        "tls-versions",
        "ssl.enabled.protocols chooses the TLS versions",
        "TLSv1.2 and TLSv1.3 are used, with a warning; a list without TLSv1.2 is refused",
        "librdkafka has no such property",
        _PRODUCER + "test_tls_versions",
    ),
    Quirk(
        "missing-target-topic",
        "a record for a topic that is never created waits for ever (max.block.ms)",
        "waits 35 minutes, then the send fails: 255, nothing committed",
        "librdkafka cannot count further",
        _PRODUCER + "test_defaults_are_those_of_the_map",
    ),
    Quirk(
        "stop-deadline",
        "a stop with the target or the coordinator away never ends",
        "ends after --shutdown.timeout.ms (30 s) and says what was not committed",
        "only SIGKILL helped",
        "tests/faults/test_stop.py::test_the_stop_ends_when_a_cluster_hangs",
    ),
    Quirk(
        "gap-is-reported",
        "an offset that retention removed is reset without a word at the default log level",
        "does the same by auto.offset.reset, and an ERROR line names the partition and what was missed",
        "nothing is dropped silently",
        "tests/side_by_side/test_offsets.py::test_an_offset_that_retention_removed",
    ),
    Quirk(
        "client-log-lines",
        "Java's clients log what they are made of, every connection and every unknown property",
        "the clients of this tool say what they have to say in their own words",
        "they are other clients",
        _RECORDED + "test_recorded_calls",
    ),
    Quirk(
        "stack-frames",
        "an exception is followed by its stack frames",
        "an exception is followed by its causes",
        "the frames were places in Java code that is not here",
        _RECORDED + "test_lines_of_the_tool",
    ),
    Quirk(
        "thread-dump",
        "SIGQUIT prints the stacks of all Java threads on stdout",
        "prints those of its own threads",
        "there are no Java threads to show",
        "tests/brokers/test_recorded_runs.py::test_signals",
    ),
    Quirk(
        "no-zookeeper",
        "up to 1.1 a consumer file with zookeeper.connect makes the tool ask ZooKeeper for brokers and offsets",
        "the brokers must be named, by --source.bootstrap.servers or in the file; offsets in ZooKeeper are not seen",
        "Kafka has no ZooKeeper any more",
        "tests/unit/compat/test_old_releases.py::test_zookeeper_files_need_brokers",
    ),
    Quirk(
        "one-consumer-file",
        "0.8 reads from every --consumer.config that is given",
        "several different files are refused; the same file twice counts once",
        "one process mirrors one source, so far",
        "tests/unit/compat/test_old_releases.py::test_several_consumer_files",
    ),
    Quirk(
        "pattern-hang",
        "0.9 hangs on a pattern that does not compile, and only SIGKILL ends it",
        "ends with 255, as every later release",
        "a process that does nothing and cannot be stopped helps nobody",
        "tests/brokers/test_recorded_runs.py::test_patterns_that_java_refuses",
    ),
    Quirk(
        "log-on-stderr",
        "0.8 logs to stdout",
        "logs to stderr, as every later release",
        "one place for the lines of all releases",
        _RECORDED + "test_recorded_calls",
    ),
    Quirk(
        "version-by-script",
        "in 2.0 to 2.2 the class refuses --version, but the start script answers it wherever it stands",
        "the command answers as the script did",
        "nobody called the class without the script",
        "tests/unit/compat/test_old_releases.py::test_version",
    ),
)
