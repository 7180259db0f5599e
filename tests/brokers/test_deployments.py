"""Deployments of real people, started as they start the old tool: their words, their files, their variables.

`deployments.json` has them with their ids. What is not theirs: addresses and secrets are those of the test's clusters;
absolute paths are taken below a folder of the test; `SASL_SSL` is `SASL_PLAINTEXT`, as these brokers have no
certificate that a host trusts. Those of an older Kafka name its release, and those of ZooKeeper's time the brokers.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path, PurePath
from typing import Any

import pytest

from legacy_mm.testbed.cluster import Cluster
from legacy_mm.testbed.load import load
from legacy_mm.testbed.records import committed, create_topic, end_offsets
from legacy_mm.testbed.tools import CHECKOUT, ToolProcess
from legacy_mm.testbed.waiting import wait_until

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
DEPLOYMENTS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("deployments.json").read_text())
AT_ONCE = 3
PATIENCE = 90.0
PARTITIONS = 2
SECRET = "secret-of-the-test"
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
LAUNCHERS = {path.name for path in (CHECKOUT / "bin").iterdir()}
EVERYTHING = {".*", "--whitelist=.*", '--whitelist=".*"'}
LOG4J = "log4j.rootLogger=WARN, A\nlog4j.appender.A=org.apache.log4j.ConsoleAppender\n"


class Deployment:
    """One row of the data in a folder of its own."""

    def __init__(self, row: Mapping[str, Any], folder: Path, addresses: Mapping[str, str]) -> None:
        self.id: str = row["id"]
        self.topic: str = row["topic"]
        self._row = row
        self._root: Path = folder / self.id
        self._work: Path = self._root / "work"
        self._work.mkdir(parents=True)
        self._addresses = addresses
        self.tool: ToolProcess

    @property
    def group(self) -> str:
        """The last `group.id` in the consumer file."""
        lines: list[str] = self._row["consumer"]
        pairs = [line.partition("=") for line in lines]
        return [text.strip() for name, _, text in pairs if name.strip() == "group.id"][-1]

    def start(self) -> ToolProcess:
        """The command, in its own working directory."""
        variables = {"LOG_DIR": str(self._root / "logs")}  # else it would be that of this checkout
        variables |= {name: self._below_root(text) for name, text in self._row["environment"].items()}
        variables["PATH"] = f"{CHECKOUT / 'bin'}:/usr/local/bin:/usr/bin:/bin"
        if self._row["release"]:
            variables["LEGACY_MM_LEGACY_RELEASE"] = self._row["release"]
            variables["LEGACY_MM_SOURCE_BOOTSTRAP_SERVERS"] = self._addresses["source"]
        self.tool = ToolProcess(self._words(), self._work, variables)
        return self.tool

    def _words(self) -> list[str]:
        words: list[str] = self._row["words"]
        script = next(place for place, word in enumerate(words) if PurePath(word).name in LAUNCHERS)
        made = [*words[:script], self._script(words[script])]
        for word in words[script + 1 :]:
            side = made[-1].removeprefix("--").removesuffix(".config")
            made.append(self._file(word, self._row[side]) if side in ("consumer", "producer") else word)
        return made

    def _script(self, word: str) -> str:
        """A bare name is on the PATH; a path leads to our `bin` by a link where theirs was."""
        if "/" not in word:
            return word
        path = self._path(word)
        path.parent.parent.mkdir(parents=True, exist_ok=True)
        path.parent.symlink_to(CHECKOUT / "bin")
        return str(path) if word.startswith("/") else word

    def _file(self, word: str, lines: Sequence[str]) -> str:
        path = self._path(word)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(f"{line}\n" for line in lines)
        for name, value in self._addresses.items():
            text = text.replace(f"{{{name}}}", value)
        path.write_text(text, encoding="iso-8859-1")
        return str(path) if word.startswith("/") else word

    def _path(self, word: str) -> Path:
        below = self._root if word.startswith("/") else self._work
        return below / word.lstrip("/")

    def _below_root(self, text: str) -> str:
        """A variable with its path below the folder; the log configuration that it names is made."""
        before, separator, path = text.partition("file:") if "file:" in text else ("", "", text)
        if not path.startswith("/"):
            return text
        place = self._path(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        if separator:
            place.write_text(LOG4J)
        return f"{before}{separator}{place}"


@pytest.fixture(scope="module")
def addresses(module_clusters: Callable[..., Cluster]) -> Iterator[dict[str, str]]:
    """One pair of clusters for all; two users are let in, one of them with the name that Azure wants."""
    users = f'{PLAIN} user_user="{SECRET}" user_$ConnectionString="{SECRET}";'
    found = {"secret": SECRET}
    for side in ("source", "target"):
        cluster = module_clusters(
            listeners={"GUARDED": "SASL_PLAINTEXT"},
            properties={
                "sasl.enabled.mechanisms": "PLAIN",
                "listener.name.guarded.plain.sasl.jaas.config": users,
            },
        )
        found |= {side: cluster.bootstrap, f"{side}_login": cluster.bootstrap_of("GUARDED")}
    for row in DEPLOYMENTS:
        for side in ("source", "target"):
            create_topic(found[side], row["topic"], partitions=PARTITIONS)
    yield found


def arrived(addresses: Mapping[str, str], topic: str) -> int:
    """Records at the target."""
    return sum(end_offsets(addresses["target"], topic).values())


def mirrors(deployment: Deployment, addresses: Mapping[str, str]) -> bool:
    """True once records arrive; more are sent each time, as most files start at the end."""
    assert deployment.tool.running(), deployment.tool.output()
    load(addresses["source"], deployment.topic, 4, 20, partitions=PARTITIONS)
    return arrived(addresses, deployment.topic) > 0


def start_together() -> list[list[dict[str, Any]]]:
    """Whoever mirrors everything runs alone: it would be mistaken for the others."""
    alone = [row for row in DEPLOYMENTS if EVERYTHING & set(row["words"])]
    others = [row for row in DEPLOYMENTS if row not in alone]
    return [[row] for row in alone] + [others[at : at + AT_ONCE] for at in range(0, len(others), AT_ONCE)]


@pytest.mark.parametrize("rows", start_together(), ids=lambda rows: "+".join(row["id"] for row in rows))
def test_a_deployment_mirrors(rows: Sequence[Mapping[str, Any]], addresses: dict[str, str], tmp_path: Path) -> None:
    """Records arrive, SIGTERM ends with 143, and the group has committed what this tool copied."""
    deployments = [Deployment(row, tmp_path, addresses) for row in rows]
    with ExitStack() as stack:
        for deployment in deployments:
            stack.enter_context(deployment.start())
        for deployment in deployments:
            wait_until(lambda: mirrors(deployment, addresses), PATIENCE, f"records of {deployment.id}")  # noqa: B023
        for deployment in deployments:
            deployment.tool.signal(signal.SIGTERM)
        for deployment in deployments:
            assert deployment.tool.wait(PATIENCE) == 143, deployment.tool.output()
            assert SECRET not in deployment.tool.output()
            done = committed(addresses["source"], deployment.group, [deployment.topic])
            assert sum(done.values()) > 0, deployment.tool.output()
