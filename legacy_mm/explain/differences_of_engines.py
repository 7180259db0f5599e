"""The ledger's rows about the two engines."""

from __future__ import annotations

from legacy_mm.explain.difference import Quirk
from legacy_mm.explain.relevance import login_of_our_own, option, producer_default

_ROUTES = "tests/unit/dataplane/test_routes.py::"

ENGINE_QUIRKS = (
    Quirk(
        "codec-of-the-source",
        "without compression.type it writes uncompressed batches, whatever the source has",
        "batches that are moved whole keep their codec; compression.type, also none, is obeyed",
        "consumers read the same records, and decompressing would cost more than all the rest",
        _ROUTES + "test_a_batch_whose_keys_belong_where_it_goes_is_not_touched",
        producer_default("compression.type"),
    ),
    Quirk(
        "batches-of-the-source",
        "makes batches of its own, by batch.size and linger.ms",
        "keeps the batches of the source where all their records go to one partition, and waits for none; little "
        "ones that were read together become one of at most 256 KB, or of batch.size with --producer.tuning literal",
        "the target log holds the same records in the same order; `--engine records` makes batches anew",
        _ROUTES + "test_a_batch_whose_keys_belong_where_it_goes_is_not_touched",
    ),
    Quirk(
        "null-keys-with-their-batch",
        "spreads null keys over the partitions, batch by batch",
        "leaves them in the partition they have, unless the target has more partitions; then it spreads them",
        "no partition stays empty that the legacy tool would fill",
        _ROUTES + "test_null_keys_stay_with_their_batch_where_the_target_has_as_many_partitions",
    ),
    Quirk(
        "refused-with-its-batch",
        "with --abort.on.send.failure=false a record that the target refuses takes along what shared its batch",
        "batches: it alone is lost; by itself: what shared a batch of librdkafka, which may be larger",
        "the target names the record, or its batch is halved; `--send.on.error quarantine` loses none with either",
        _ROUTES + "test_only_the_records_that_the_target_names_have_failed",
        option("abort.on.send.failure"),
    ),
    Quirk(
        "logins-of-the-batches",
        "logs in by Kerberos or with a delegation token whatever else it does",
        "refuses such a login, exit 1, with what only librdkafka does: handlers, acks=0, partitioners other than the "
        "default, the cooperative assignor, heartbeats and offset syncs; Kerberos also on a Spark cluster",
        "librdkafka's wheel has neither login; batches, membership and commits go over our own sockets",
        "tests/unit/flow/test_wiring.py::test_a_login_that_librdkafka_does_not_have",
        login_of_our_own,
    ),
    Quirk(
        "header-names-that-are-not-utf-8",
        "copies such a record, with another name for the header",
        "records (handlers, --engine records): ends with 255 and names the record, also where the name holds a NUL; "
        "batches copies it as it is. With librdkafka as reader (a cluster master, old brokers) a NUL ends the name",
        "librdkafka's Python client gives none of the headers of such a record, and none may be lost; it cuts a name "
        "off at a NUL, and does not say so",
        "tests/brokers/test_records_engine.py::test_a_header_that_the_client_cannot_read_is_named",
    ),
    Quirk(
        "missing-topics-wait-alone",
        "while the target lacks a topic, or the records for a partition without a leader fill the buffer, its thread "
        "copies no other topic either",
        "only the records concerned wait, at the source; a line, /readyz and a metric tell it. The buffer fills where "
        "a handler names the topic; without a leader also record by record with receipts, offset syncs or a quarantine",
        "one topic that somebody forgot must not stop all others",
        "tests/faults/test_unwritable_topics.py::test_a_topic_whose_name_collides_waits_alone",
    ),
    Quirk(
        "old-records-come-once",
        "records older than the target's producer.id.expiration.ms come twice where a broker's answer is lost and it "
        "has forgotten the producer",
        "batches: the target's log is asked whether they arrived (needs Read there), and one batch of records older "
        "than half an hour is under way for each partition; records: as the legacy tool",
        "brokers forget a producer by the timestamps of its records",
        "tests/faults/test_old_records.py::test_what_a_forgetful_broker_has_is_not_sent_again",
    ),
    Quirk(
        "target-without-producer-ids",
        "since 3.0 a target of before 0.11 ends it with 255, unless the file has enable.idempotence=false",
        "one line, and it goes on without idempotence, one request in flight; enable.idempotence=true ends it, too",
        "what nobody asked for must not end a mirror; order is kept",
        "tests/brokers/test_old_brokers.py::test_the_old_tool_ends_where_ours_goes_on",
    ),
    Quirk(
        "timestamp-zero",
        "keeps a record's timestamp of 0",
        "keeps it, too; record by record it sends the present time and says so once per partition",
        "librdkafka reads 0 as: no timestamp given",
        "tests/side_by_side/test_records.py::test_timestamp_zero",
    ),
    Quirk(
        "times-below-zero",
        "a record with a time below -1 ends it with 255; one without a time (-1) gets the present",
        "batches: keeps the former, and the latter in a batch that has times; by itself: both get the present",
        "a record that the source took must not end the mirror; librdkafka knows no time below 0",
        _ROUTES + "test_a_time_below_zero_stays_in_a_batch_that_has_times",
    ),
)
