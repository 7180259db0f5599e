"""Names the fixture plug-ins, and nothing else: what they give is documented where it is made."""

from __future__ import annotations

pytest_plugins = [
    "tests.fixtures.times",
    "tests.fixtures.agents",
    "tests.fixtures.cache",
    "tests.fixtures.chromium",
    "tests.fixtures.clusters",
    "tests.fixtures.copying",
    "tests.fixtures.driver_jvm",
    "tests.fixtures.engine_process",
    "tests.fixtures.foreign_clients",
    "tests.fixtures.handlers",
    "tests.fixtures.kerberos",
    "tests.fixtures.mirrored",
    "tests.fixtures.one_java",
    "tests.fixtures.process",
    "tests.fixtures.support",
    "tests.fixtures.token_service",
    "tests.fixtures.tools",
    "tests.fixtures.warm_mirrors",
    "tests.fixtures.workers",
]
