"""The ledger's rows about message handlers and rebalance listeners."""

from __future__ import annotations

from legacy_mm.explain.difference import Quirk
from legacy_mm.explain.relevance import option

_HANDLERS = "tests/side_by_side/test_handlers.py::"
_LISTENERS = "tests/side_by_side/test_listeners.py::"

PLUGIN_QUIRKS = (
    Quirk(
        "handler-checked-at-start",
        "a message handler that cannot be made is logged; the tool runs and ends with 255 at the first record",
        "looks at class, type and constructor before it joins the group, and ends with 255; a constructor that throws "
        "is noticed when the first copy job makes the handler, before it reads: 255 as well, nothing committed",
        "what cannot copy a single record had better not join the group; a trial object beside the copy task's would "
        "run the user's code once more than it expects, with its files and ports",
        _HANDLERS + "test_a_handler_that_cannot_be_made",
        option("message.handler"),
    ),
    Quirk(
        "handler-for-each-job",
        "one handler object for all threads and the whole run",
        "one for each stream, made again after a rebalance; static fields are of one stream as well",
        "each stream copies in a process of its own",
        "tests/unit/dataplane/test_handler_engine.py::test_each_engine_makes_its_own_handler",
        option("message.handler"),
    ),
    Quirk(
        "handler-exceptions-alike",
        "a WakeupException of a handler skips the record, a KafkaException during the stop commits it unsent",
        "any exception of a handler ends the mirror with 255, and commits nothing",
        "both lose a record without a word",
        "tests/unit/dataplane/test_handler_engine.py::test_what_came_before_a_failure_is_sent_and_not_reported_safe",
        option("message.handler"),
    ),
    Quirk(
        "handler-names-checked",
        "a record that a handler makes for a topic that cannot be fails when it is sent: 255, or dropped with "
        "abort.on.send.failure=false",
        "the same exit codes; the record is one that the handler failed on, by partition and offset, before it is sent",
        "a client asks for such a topic again and again, and its error does not say which record it was",
        "tests/brokers/test_handlers.py::test_a_topic_that_cannot_be_is_never_asked_for",
        option("message.handler"),
    ),
    Quirk(
        "listener-made-last",
        "makes the rebalance listener before it reads the topics; shares it between unsynchronised threads",
        "makes it when all files are read, so what is wrong with them is told first; its calls never overlap",
        "it lives in the JVM that drives Spark, which is started for a line that is right",
        _LISTENERS + "test_a_listener_that_cannot_be_made",
        option("consumer.rebalance.listener"),
    ),
)
