"""The legacy tool's MBeans: every name and every attribute of release 3.9.1.

`tests/side_by_side/test_mbeans.py` reads the real tool's beans and holds the table to them.
"""

from __future__ import annotations

from legacy_mm.metrics.client_mbeans import CONSUMER, COORDINATOR, PRODUCER
from legacy_mm.metrics.jmx import Attribute, Bean

BEANS = (
    Bean(
        "mirror",
        "kafka.tools:type=MirrorMaker,name=MirrorMaker-numDroppedMessages",
        (Attribute("Value", "records_dropped_total", "Integer", "java.lang.Object"),),
    ),
    *CONSUMER,
    COORDINATOR,
    *PRODUCER,
    Bean(
        "mirror", "kafka:type=kafka.Log4jController", (Attribute("Loggers", "loggers", "ArrayList", "java.util.List"),)
    ),
)
