"""The known differences from the legacy tool, one row each. A test names the id of the row that it shows."""

from __future__ import annotations

from legacy_mm.explain.known_difference import KnownDifference
from legacy_mm.explain.relevance import (
    any_of,
    begins_at_the_end,
    both,
    by_meaning,
    clamped,
    consumer,
    either_file,
    family,
    foreign_class,
    idempotent,
    kept_by_librdkafka,
    login_of_our_own,
    option,
    producer,
    producer_default,
    producer_other_than,
    refused,
    says,
    several_consumer_files,
    several_streams,
)
from legacy_mm.features.rows import BY_NAME

_TRANSLATE = "tests/unit/words/legacy_tool/test_translate.py::"
_RECORDED = "tests/unit/cli/test_recorded_calls.py::"
_SCRIPT = "tests/unit/words/legacy_tool/test_legacy_script_golden.py::"
_PRODUCER = "tests/unit/words/java_clients/client_properties/test_apply.py::"
_SECURITY = "tests/unit/words/legacy_tool/test_security_properties.py::"
_WITHOUT_KEYS = (
    "org.apache.kafka.clients.producer.roundrobinpartitioner",
    "org.apache.kafka.clients.producer.uniformstickypartitioner",
)
_JAVA_CODE = (
    "interceptor.classes",
    "metric.reporters",
    "partitioner.class",
    "partition.assignment.strategy",
    "sasl.login.class",
    "ssl.engine.factory.class",
)
_ROUTES = "tests/unit/dataplane/test_routes.py::"
_FLAGS = "tests/unit/features/test_flags.py::"
_REFRESH = ("refresh.topics.enabled", "refresh.topics")
_HANDLERS = "tests/side_by_side/test_handlers.py::"
_LISTENERS = "tests/side_by_side/test_listeners.py::"

DIFFERENCES = (
    KnownDifference(
        "handler-checked-at-start",
        "a message handler that cannot be made is logged; the tool runs and ends with 255 at the first record",
        "looks at class, type and constructor before it joins the group, and ends with 255; a constructor that throws "
        "is noticed when the first copy job makes the handler, before it reads: 255 as well, nothing committed",
        "a mirror that cannot copy a record must not join the group; a second object for the check would run the "
        "user's code once more than expected, with its files and ports",
        _HANDLERS + "test_a_handler_that_cannot_be_made",
        option("message.handler"),
    ),
    KnownDifference(
        "handler-for-each-job",
        "one handler object for all threads and the whole run",
        "one object for each stream, a new one after a rebalance; streams of one process share static fields",
        "streams copy in as many processes as there are cores, and a rebalance gives a stream another one",
        "tests/unit/dataplane/test_handler_stage.py::test_each_stage_makes_its_own_handler",
        option("message.handler"),
    ),
    KnownDifference(
        "handler-exceptions-alike",
        "a WakeupException of a handler skips the record, a KafkaException during the stop commits it unsent",
        "any exception of a handler ends the mirror with 255, and commits what was copied before that record",
        "both lose a record in silence",
        "tests/brokers/test_failures_commit.py::test_a_handler_that_fails",
        option("message.handler"),
    ),
    KnownDifference(
        "handler-names-checked",
        "a record that a handler makes for an impossible topic name fails when it is sent: the tool ends with 255, or "
        "drops it with abort.on.send.failure=false",
        "the same exit codes; the mirror names the record as one that the handler failed on, before it is sent",
        "a client asks for such a topic again and again, and its error does not say which record it was",
        "tests/brokers/test_handlers.py::test_a_topic_that_cannot_be_is_never_asked_for",
        option("message.handler"),
    ),
    KnownDifference(
        "listener-made-last",
        "makes the rebalance listener before it reads the topics; shares it between unsynchronised threads",
        "makes it when all files are read, so it reports their faults first; calls of the listener never overlap",
        "it lives in the JVM that drives Spark, which is started for a line that is right",
        _LISTENERS + "test_a_listener_that_cannot_be_made",
        option("consumer.rebalance.listener"),
    ),
    KnownDifference(
        "codec-of-the-source",
        "without compression.type it writes uncompressed batches, whatever the source has",
        "batches that are moved whole keep their codec; compression.type, also none, is obeyed",
        "consumers read the same records, and decompressing would cost more than all the rest",
        _ROUTES + "test_a_batch_whose_keys_belong_where_it_goes_is_not_touched",
        producer_default("compression.type"),
    ),
    KnownDifference(
        "batches-of-the-source",
        "makes batches of its own, by batch.size and linger.ms",
        "keeps the batches of the source where all their records go to one partition, and does not wait to fill one; "
        "small ones that were read together become one of at most 960 KB, of batch.size with --producer.tuning literal",
        "the target log holds the same records in the same order",
        _ROUTES + "test_a_batch_whose_keys_belong_where_it_goes_is_not_touched",
    ),
    KnownDifference(
        "null-keys-with-their-batch",
        "spreads null keys over the partitions, batch by batch",
        "leaves them in the partition they have, unless the target has more partitions; then it spreads them",
        "no partition stays empty that the legacy tool would fill",
        _ROUTES + "test_null_keys_stay_with_their_batch_where_the_target_has_as_many_partitions",
    ),
    KnownDifference(
        "commits-at-a-send-failure",
        "after a record that cannot be sent it ends with 255 and commits nothing",
        "ends with 255, and commits what the target has of the records before that one",
        "a supervisor starts the mirror again: it would copy the same records once more each time",
        "tests/brokers/test_failures_commit.py::test_a_record_that_cannot_be_sent",
        option("abort.on.send.failure"),
    ),
    KnownDifference(
        "refused-with-its-batch",
        "with --abort.on.send.failure=false a refused record is dropped together with all records of its batch",
        "only that record is dropped",
        "the target names the record, or its batch is halved; `--send.on.error quarantine` loses none",
        _ROUTES + "test_only_the_records_that_the_target_names_have_failed",
        option("abort.on.send.failure"),
    ),
    KnownDifference(
        "logins-of-the-batches",
        "logs in by Kerberos or with a delegation token whatever else it does",
        "refuses such a login, exit 1, with the cooperative assignor and with group.protocol=consumer; Kerberos also "
        "on a Spark cluster",
        "these need librdkafka, and its wheel has neither login; Kerberos tickets are on this host alone",
        "tests/unit/flow/test_client_checks.py::test_a_login_that_librdkafka_does_not_have",
        login_of_our_own,
    ),
    KnownDifference(
        "missing-topics-wait-alone",
        "while the target lacks a topic, or the records for a partition without a leader fill the buffer, its thread "
        "copies no other topic either",
        "only the records concerned wait, at the source; a log line, /readyz and a metric name the topic",
        "one forgotten topic must not stop all others",
        "tests/faults/test_unwritable_topics.py::test_a_topic_whose_name_collides_waits_alone",
    ),
    KnownDifference(
        "old-records-come-once",
        "records older than the target's producer.id.expiration.ms come twice where a broker's answer is lost and it "
        "has forgotten the producer",
        "the target's log is asked whether they arrived (needs Read there), and one batch of records older than half "
        "an hour is under way for each partition",
        "brokers forget a producer by the timestamps of its records",
        "tests/faults/test_old_records.py::test_what_a_forgetful_broker_has_is_not_sent_again",
    ),
    KnownDifference(
        "target-without-producer-ids",
        "since 3.0 a target of before 0.11 ends it with 255, unless the file has enable.idempotence=false",
        "logs one line and continues without idempotence, one request in flight; enable.idempotence=true ends it, too",
        "a default that nobody asked for must not end a mirror; order is kept",
        "tests/brokers/test_old_brokers.py::test_the_old_tool_ends_where_ours_goes_on",
    ),
    KnownDifference(
        "times-below-zero",
        "a record with a time below -1 ends it with 255; one without a time (-1) gets the present time",
        "keeps both, the latter in a batch that has times",
        "a record that the source took must not end the mirror",
        _ROUTES + "test_a_time_below_zero_stays_in_a_batch_that_has_times",
    ),
    KnownDifference(
        "flags-in-client-files",
        "names of MirrorMaker 2 in a consumer or producer file are unknown properties: one line, and they are ignored",
        "they are feature flags and act; without them everything is as in the legacy tool; while no feature is on, an "
        "impossible flag is ignored, and a list of topics acts, each with a WARN line",
        "a vendor's manual told users of this command to put them there",
        _FLAGS + "test_files_of_the_clients_hold_flags_too",
        either_file(*(name for name in BY_NAME if name not in _REFRESH), summary="feature flags in a client's file"),
    ),
    KnownDifference(
        "refresh-of-topics",
        "finds new topics that match, whatever refresh.topics.enabled says, because it does not know that name",
        "the same; refresh.topics.enabled=false only keeps topic.creation from looking again",
        "finding new topics belongs to the legacy tool, so no feature flag turns it off",
        _FLAGS + "test_the_vendors_manual_is_true",
        either_file(*_REFRESH),
    ),
    KnownDifference(
        "buffer-memory-divided",
        "one producer of buffer.memory bytes for all streams",
        "one producer per stream, each with its share of buffer.memory, large enough for max.request.size; streams of "
        "one process lend each other what they do not use",
        "a stream's copying has its own memory and connections, so that it can end alone",
        _PRODUCER + "test_buffer_memory_is_divided",
        several_streams,
    ),
    KnownDifference(
        "in-flight-by-meaning",
        "one request in flight, by default or by max.in.flight.requests.per.connection=1",
        "an idempotent producer with five; --producer.tuning literal takes a 1 in the file as 1",
        "the order is the same, and a long line is filled",
        _PRODUCER + "test_in_flight_is_read_by_meaning",
        both(by_meaning("max.in.flight.requests.per.connection", default=1, below=2), idempotent),
    ),
    KnownDifference(
        "batch-size-by-meaning",
        "batch.size is the upper bound of a batch, 16384 by default",
        "at least 983040 is used; --producer.tuning literal takes the number",
        "larger batches cost both clusters less",
        _PRODUCER + "test_batch_size_is_a_lower_bound",
        by_meaning("batch.size", default=16_384, below=983_040),
    ),
    KnownDifference(
        "linger-default",
        "linger.ms is 0 unless set",
        "sends at once, whatever linger.ms says",
        "the batches of the source are sent as they come",
        _PRODUCER + "test_defaults_are_those_of_the_map",
        producer_default("linger.ms"),
    ),
    KnownDifference(
        "commit-in-rebalance",
        "a commit during a rebalance ends the process with 255",
        "it is tried again",
        "a second try loses nothing, and the copying need not stop",
        "tests/unit/controlplane/test_commits.py::test_during_a_rebalance_the_offsets_wait_for_the_next_generation",
    ),
    KnownDifference(
        "blocked-target-keeps-membership",
        "a thread that waits for its target stops polling and falls out of the group",
        "the membership continues to poll and keeps its partitions",
        "membership and copying are two processes",
        "tests/faults/test_recovery.py::test_target_down_for_30_seconds",
    ),
    KnownDifference(
        "refused-while-running",
        "a login or certificate that goes wrong at the target while it runs is tried again each second, for ever",
        "the mirror ends with 255, as at its start; nothing is committed beyond what arrived",
        "a mirror that waits for ever for a new password looks idle",
        "tests/faults/test_access.py::test_the_password_is_changed",
        producer("security.protocol", "ssl", "sasl_ssl", "sasl_plaintext"),
    ),
    KnownDifference(
        "token-service-at-the-start",
        "a token service that gives no token at the start ends it with 1, whatever the reason",
        "a service that refuses the client ends it with 255 if there is no valid token; the mirror waits for a service "
        "that does not answer",
        "a service that is away for a minute must not end a mirror",
        "tests/unit/clients/net/test_bearer_tokens.py::test_a_service_that_refuses_the_client",
        either_file("sasl.login.callback.handler.class"),
    ),
    KnownDifference(
        "stores-renewed",
        "key and trust stores are read at the start; changed ones come into use by a restart",
        "looks at them each second; once the clusters accept the new ones, it continues with new clients",
        "certificates that live for hours need no restart; a member that is not static joins the group again",
        "tests/faults/test_rotation.py::test_stores_are_exchanged",
        either_file("ssl.truststore.location", "ssl.keystore.location"),
    ),
    KnownDifference(
        "max-poll-interval-clamped",
        "takes max.poll.interval.ms up to Integer.MAX, and below session.timeout.ms",
        "the same, but one day at most and at least session.timeout.ms in a membership that librdkafka keeps; says so",
        "librdkafka takes no other values",
        _PRODUCER + "test_max_poll_interval_is_clamped",
        says("max.poll.interval.ms=", "max.poll.interval.ms", "session.timeout.ms"),
    ),
    KnownDifference(
        "number-clamped",
        "takes any number a property's type allows",
        "takes the nearest one in its range, and says so",
        "no wait here is longer than 24 days, and some numbers must be above 0; a membership that librdkafka keeps has "
        "its ranges, which are narrower",
        _PRODUCER + "test_numbers_are_clamped_and_said",
        clamped,
    ),
    KnownDifference(
        "null-pointer-lines",
        "every start-up error is followed by a NullPointerException, some by a second one",
        "only the error itself is printed",
        "they are accidents, and nobody can act on them",
        _RECORDED + "test_recorded_calls",
        refused,
    ),
    KnownDifference(
        "instance-id-per-stream",
        "all streams share group.instance.id, so all but one are fenced and the process ends",
        "the stream's number is appended when there are several",
        "static membership with several streams could not be used at all",
        "tests/unit/assembly/test_streams.py::test_instance_id_per_stream",
        both(consumer("group.instance.id"), several_streams),
    ),
    KnownDifference(
        "empty-group-id",
        "runs with an empty group.id, up to 2.1 also without one",
        "refuses it, exit 1",
        "librdkafka, which keeps some memberships, would end the whole process",
        _TRANSLATE + "test_empty_group_id",
        consumer("group.id", ""),
    ),
    KnownDifference(
        "auto-commit-after-copy",
        "enable.auto.commit=true also commits records that were read but not yet written",
        "commits at our interval or auto.commit.interval.ms, whichever is shorter, and only what is written",
        "the file asks for frequent commits, not for loss",
        _TRANSLATE + "test_enable_auto_commit",
        consumer("enable.auto.commit", "true"),
    ),
    KnownDifference(
        "transactional-id-refused",
        "starts with transactional.id and ends with 255 at the first record",
        "refuses it at start, exit 1",
        "no transaction would ever begin",
        _PRODUCER + "test_refused_by_name",
        producer("transactional.id"),
    ),
    KnownDifference(
        "partitioner-without-keys",
        "RoundRobinPartitioner, UniformStickyPartitioner and partitioner.ignore.keys fill partitions in turn",
        "each record goes to the next partition in turn",
        "the legacy tool's order depends on its batches, and may leave partitions out (KAFKA-9965)",
        _PRODUCER + "test_partitioners_without_keys",
        any_of(
            producer("partitioner.class", *_WITHOUT_KEYS),
            producer("partitioner.ignore.keys", "true"),
        ),
    ),
    KnownDifference(
        "java-code-refused",
        "loads interceptors, partitioners, assignors, reporters and TLS engines by class name",
        "refuses by name those that could change records; ignores metrics reporters, and interceptors with "
        "--interceptors ignore",
        "this client is not Java",
        _PRODUCER + "test_refused_by_name",
        foreign_class(*_JAVA_CODE),
    ),
    KnownDifference(
        "native-properties",
        "reports librdkafka.<name> as not used",
        "sets the property of that name, unless it would break a guarantee; for what only librdkafka knows it gives "
        "the membership to it, and in a producer file that has no effect, with a WARN line; what only its TLS or its "
        "logins know is refused, exit 1, as is a value that cannot be: the copying uses Python's ssl",
        "it is the way to native tuning; no Java property begins with that",
        _PRODUCER + "test_native_properties",
        family("librdkafka."),
    ),
    KnownDifference(
        "tls-versions",
        "ssl.enabled.protocols chooses the TLS versions",
        "TLSv1.2 and TLSv1.3 are used, with a warning; a list without TLSv1.2 is refused",
        "the clients here take these two, and librdkafka has no such property",
        _SECURITY + "test_tls_versions",
        either_file("ssl.enabled.protocols"),
    ),
    KnownDifference(
        "empty-trust-store",
        "starts with a trust store without a readable certificate, and every connection fails",
        "ends at the start, exit 1, and names the file",
        "the clients here would trust the authorities of the system instead",
        "tests/processes/runtime/jvm/test_keystore.py::test_trust_without_a_password",
        either_file("ssl.truststore.location"),
    ),
    KnownDifference(
        "trust-without-root",
        "trusts a certificate without its issuers",
        "the same, but a membership that librdkafka keeps refuses brokers until the trust store holds the issuers up "
        "to the root; a line names the missing one",
        "librdkafka's OpenSSL follows every chain to its root",
        "tests/processes/runtime/jvm/test_keystore.py::test_trust_without_a_root_is_said",
        either_file("ssl.truststore.location"),
    ),
    KnownDifference(
        "max-block-bounds-one-wait",
        "a send that waits longer than max.block.ms, for a topic, for room or for a target that is away, fails: it "
        "ends with 255, or drops the record",
        "max.block.ms bounds the wait for a topic that is missing; for room and for the target the mirror waits",
        "a slow target must neither lose records nor end the mirror; delivery.timeout.ms still bounds what was sent",
        "tests/unit/words/legacy_tool/test_riskiest_mismatches.py::test_max_block_bounds_the_wait_for_a_topic_alone",
        producer_other_than("max.block.ms", "9223372036854775807"),
    ),
    KnownDifference(
        "stop-deadline",
        "a stop while the target or the coordinator is away never ends",
        "ends after --shutdown.timeout.ms (30 s) and names what was not committed",
        "only SIGKILL helped",
        "tests/faults/test_stop.py::test_the_stop_ends_when_a_cluster_hangs",
    ),
    KnownDifference(
        "wake-up-line",
        "a busy clean stop may print WARN [mirrormaker-thread-0] null and a WakeupException",
        "prints nothing there",
        "it is an accident, and nobody can act on it",
        "tests/side_by_side/test_log_lines.py::test_clean_start_and_stop",
    ),
    KnownDifference(
        "client-lines",
        "the Java clients log their configuration and every step at INFO, lost connections at WARN",
        "prints the lines that people look for; lost connections under the same logger, in our words",
        "this client is not Java",
        "tests/unit/logs/test_root_logger.py::test_levels_and_places_are_those_of_the_logger_the_wording_names",
    ),
    KnownDifference(
        "standby-without-a-producer",
        "its producer connects at the start, also of a member that gets no partitions: connection-count is above 0",
        "connects to the target with its first partitions; until then the producer's connection-count is 0, so "
        "Strimzi's readiness agent does not call it ready, but /readyz of --metrics.port does",
        "a member that copies nothing needs no connection, and a false number helps nobody",
        "tests/unit/metrics/test_jmx.py::test_before_the_first_assignment_there_is_nothing_rather_than_no_number",
    ),
    KnownDifference(
        "log-appenders",
        "log4j loads any appender, layout and filter by class name",
        "console, file and rolling file appenders with pattern or JSON layout; anything else is named in one WARN",
        "this logging is not Java",
        "tests/unit/words/legacy_tool/test_log4j_configuration.py::test_what_is_not_supported_is_said_once_per_appender",
    ),
    KnownDifference(
        "broken-log-configuration",
        "a log4j file that is missing or has no usable appender leaves the mirror without a log",
        "says so in one line and logs to the console as without the file",
        "a mirror without a log hides its failures",
        "tests/unit/words/legacy_tool/test_log4j_configuration.py::test_a_file_that_cannot_be_used_is_said_once_and_logging_goes_to_the_console",
    ),
    KnownDifference(
        "gap-is-reported",
        "resets an offset that retention removed, in silence at the default log level",
        "does the same by auto.offset.reset, and a WARN line names the partition and what was removed or skipped",
        "nothing is dropped in silence",
        "tests/side_by_side/test_offsets.py::test_an_offset_that_retention_removed",
    ),
    KnownDifference(
        "lasting-troubles-told-rarely",
        "repeats the WARN line about a topic that the target lacks each second",
        "says it once and then after 5, 10 ... 300 s, and at once when the answer is another one",
        "a line each second hides all others",
        "tests/unit/dataplane/test_retry_backoff.py::test_an_answer_that_lasts_is_told_less_and_less_often",
    ),
    KnownDifference(
        "skipped-is-reported",
        "begins at the end of a log for which the group has no offset, and skips its records in silence",
        "does the same, and a WARN line names the partition and what was skipped; --new.topics.from earliest closes it",
        "a new topic, and a group killed before its first commit, lose records that way (KAFKA-4668, KAFKA-2759)",
        "tests/side_by_side/test_offsets.py::test_latest_copies_only_what_comes_later",
        begins_at_the_end,
    ),
    KnownDifference(
        "chosen-place-is-committed",
        "commits an offset that auto.offset.reset chose with the first record that comes; a restart before that "
        "chooses again, and loses what came meanwhile",
        "commits it at once: with latest where the group has no offset, and wherever copying continues behind a gap",
        "the group holds a few offsets more, and a restart loses nothing",
        "tests/faults/test_starts.py::test_what_comes_behind_a_chosen_place_survives_a_kill",
    ),
    KnownDifference(
        "mbeans-with-a-source",
        "publishes what the Java clients count, also about their internals and their bootstrap connection",
        "publishes the same beans and attributes, up to 7 s old; those that nobody counts here answer NaN, as Kafka's "
        "do without samples (metrics/client_mbeans.py says why); client totals lack the last seconds of a job that a "
        "rebalance ends",
        "a scraper that asks for a missing attribute gets no answer at all, and an uncounted zero would deceive",
        "tests/side_by_side/test_mbeans.py::test_beans_of_both",
    ),
    KnownDifference(
        "stack-frames",
        "an exception is followed by its stack frames",
        "an exception is followed by its causes",
        "the frames are places in Java code that is not here",
        _RECORDED + "test_lines_of_the_tool",
    ),
    KnownDifference(
        "thread-dump",
        "SIGQUIT prints the stacks of all Java threads on stdout",
        "prints those of its own threads",
        "there are no Java threads to show",
        "tests/brokers/test_recorded_runs.py::test_signals",
    ),
    KnownDifference(
        "no-zookeeper",
        "up to 1.1 a consumer file with zookeeper.connect makes the tool ask ZooKeeper for brokers and offsets",
        "name the brokers by --source.bootstrap.servers or in the file; offsets in ZooKeeper are not read",
        "Kafka has no ZooKeeper any more",
        "tests/unit/words/legacy_tool/test_releases.py::test_zookeeper_files_need_brokers",
    ),
    KnownDifference(
        "consumer-file-once",
        "0.8 makes --num.streams streams for every --consumer.config, also for the same file again",
        "the same file again adds no streams",
        "they would be members of one group; --num.streams sets their number",
        "tests/unit/words/legacy_tool/test_releases.py::test_the_same_consumer_file_counts_once",
        several_consumer_files,
    ),
    KnownDifference(
        "pattern-hang",
        "0.9 hangs on a pattern that does not compile, and only SIGKILL ends it",
        "ends with 255, as every later release",
        "a process that does nothing and cannot be stopped helps nobody",
        "tests/brokers/test_recorded_runs.py::test_patterns_that_java_refuses",
    ),
    KnownDifference(
        "log-on-stderr",
        "0.8 logs to stdout",
        "logs to stderr, as every later release",
        "one place for the lines of all releases",
        _RECORDED + "test_recorded_calls",
    ),
    KnownDifference(
        "version-by-script",
        "in 2.0 to 2.2 the class refuses --version, but the start script answers it wherever it stands",
        "the command answers as the script did",
        "nobody called the class without the script",
        "tests/unit/words/legacy_tool/test_releases.py::test_version",
    ),
    KnownDifference(
        "start-script-of-3.9",
        "releases differ: 0.8.2 and 0.9.0.0 split and glob the tool's words, others in KAFKA_DEBUG, RMI port, -loggc",
        "the start script is that of 3.9, whatever --legacy.release says",
        "the later behaviour is safer, and no working call depends on the earlier",
        _SCRIPT + "test_recorded_case",
    ),
    KnownDifference(
        "java-defaults",
        "256 MB of heap, the G1 collector and local JMX, unless variables say otherwise",
        "512 MB of heap for Spark's driver, and our own choice of the rest; a variable wins over it, but a heap "
        "below 512 MB is raised",
        "it is another Java program; JMX costs time at the start, so it is on only with JMX_PORT or KAFKA_JMX_OPTS",
        _SCRIPT + "test_recorded_case",
    ),
    KnownDifference(
        "java-options-left-out",
        "an option that Java does not know ends the start with exit 1",
        "leaves it out with a WARN line, and ignores a JAVA_HOME below 17",
        "an environment written for Java 8 must start",
        "tests/processes/runtime/jvm/test_gateway.py::test_default_options_of_every_release",
    ),
    KnownDifference(
        "java-network-properties",
        "obeys -D properties of Java's network code: java.security.krb5.realm and .kdc, https.proxyHost, "
        "java.net.preferIPv4Stack",
        "gives them to Spark's Java, without effect on the copying; reads a krb5.conf that -D names",
        "the clients are not Java: name realms in krb5.conf",
        "tests/unit/words/legacy_tool/test_translate.py::test_java_s_network_properties_do_not_reach_the_clients",
    ),
    KnownDifference(
        "bare-java",
        "java -cp ... kafka.tools.MirrorMaker",
        "write kafka-run-class.sh instead of java: it takes the same words, with Java options and class path",
        "a jar could only start this program as a second process",
        "tests/structure/test_scripts.py::test_java_options_before_the_class_stay_before_it",
    ),
    KnownDifference(
        "reconnect-pause",
        "a client tries a broker that is away after 50 ms, then doubles the pause up to reconnect.backoff.max.ms (1 s)",
        "a membership that librdkafka keeps always pauses for a quarter of that maximum; all other clients do the same",
        "librdkafka never doubles while it looks for the group's coordinator: 36 attempts a second with 50 ms",
        "tests/processes/words/legacy_tool/test_reconnects.py::test_a_member_does_not_besiege_a_broker_that_is_away",
        kept_by_librdkafka,
    ),
    KnownDifference(
        "copy-into-itself-ends",
        "where source and target are one cluster, a topic is copied into itself until the disks are full",
        "ends with 255 when it reads again what it has written; not with a handler, which may give records other "
        "topics, not with acks=0, whose answers have no offsets (a WARN line says that both are one cluster), and not "
        "before 0.10.1, whose brokers have no cluster id",
        "no disk is large enough, and bootstrap.servers may look right where advertised.listeners are wrong",
        "tests/brokers/test_one_cluster.py::"
        "test_an_unchanged_line_that_copies_into_itself_ends_when_its_own_records_come_back",
    ),
    KnownDifference(
        "no-libs-folder",
        "without jars beside it the start script says: Classpath is empty",
        "there is no such folder",
        "the program is a Python package",
        _SCRIPT + "test_recorded_case",
    ),
)
