"""Client quotas of a cluster, set and told by Kafka's own `kafka-configs.sh`."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence

from compat.laboratory.jars import kafka_jars
from compat.laboratory.releases import CURRENT
from legacy_mm.runtime.jvm.java_home import find_java

Whose = tuple[str, ...]
"""The words that name an entity: `--entity-type users --entity-name alice`."""
Kinds = tuple[str, ...]
"""The kinds of an entity: `users`, or `users` and `clients` for one of both."""
_EVERY: tuple[Kinds, ...] = (("users",), ("clients",), ("users", "clients"), ("ips",))
_TIMEOUT = 60.0
_TOLD = re.compile(r"Quota configs for (.+) are (.*)")


def set_quotas(bootstrap: str, whose: Sequence[str], limits: Mapping[str, float]) -> None:
    """Set these limits of an entity."""
    _run(bootstrap, "--alter", *whose, "--add-config", ",".join(f"{name}={limit}" for name, limit in limits.items()))


def quotas(bootstrap: str, *asked: Kinds) -> dict[str, dict[str, float]]:
    """Return the quotas of these kinds, or all, by the words that Kafka has for whose they are."""
    found: dict[str, dict[str, float]] = {}
    for kinds in asked or _EVERY:
        text = _run(bootstrap, "--describe", *(word for kind in kinds for word in ("--entity-type", kind)))
        for whose, limits in _TOLD.findall(text):
            pairs = (limit.split("=") for limit in limits.split(", ") if limit)
            found[whose] = {name: float(limit) for name, limit in pairs}
    return found


def _run(bootstrap: str, *words: str) -> str:
    command = [str(find_java()), "-cp", f"{kafka_jars(CURRENT)}/*", "kafka.admin.ConfigCommand"]
    command += ["--bootstrap-server", bootstrap, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=_TIMEOUT).stdout
