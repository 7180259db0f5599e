"""`legacy-mm adopt` between real clusters: what it leaves alone, and what it commits when told to.

tests/brokers/test_docs.py moves from the real MirrorMaker 2 with it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer

from legacy_mm.audit.cluster_access import committed, create_topic
from legacy_mm.audit.waiting import wait_until
from tests.fixtures.offsets import commit, open_transaction, stand
from tests.fixtures.tools import Run

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
SECONDS = 30.0


def test_what_is_left_alone(
    tmp_path: Path,
    source: Any,
    target: Any,
    topic: Callable[..., str],
    group: str,
    run: Run,
) -> None:
    name, offsets = topic("orders"), topic("mm2-offsets")
    create_topic(source.bootstrap, name, 3)
    stand(target, offsets, name, {0: 41})
    commit(source, group, {(name, 0): 40, (name, 1): 7})
    (tmp_path / "c").write_text(f"bootstrap.servers={source.bootstrap}\ngroup.id={group}\n")
    (tmp_path / "p").write_text(f"bootstrap.servers={target.bootstrap}\n")
    files = ("--consumer.config", str(tmp_path / "c"), "--producer.config", str(tmp_path / "p"))

    def adopt(*words: str) -> tuple[int, str]:
        code, *said = run("adopt", "--offsets-topic", offsets, *words, "--", *files, "--include", name)
        return code, "".join(said)

    def at_source() -> dict[int, int]:
        found = committed(source.bootstrap, group, [name])
        return {number: offset for (_, number), offset in found.items()}

    code, said = adopt("--known-only")
    assert (code, at_source()) == (2, {0: 40, 1: 7})
    assert "not done: the group has other offsets for 1 partitions" in said
    assert f"{name}-1: no offset is known; it stays at 7" in said
    assert f"{name}-2: no offset is known; the mirror begins by auto.offset.reset" in said
    assert adopt("--replace", "--dry-run")[0] == 0
    assert at_source() == {0: 40, 1: 7}
    member = Consumer({"bootstrap.servers": source.bootstrap, "group.id": group, "client.id": "somebody"})
    member.subscribe([name])
    wait_until(lambda: member.poll(0.1) is None and member.assignment(), SECONDS, "a member of the group")
    code, said = adopt("--replace")
    assert (code, at_source()) == (2, {0: 40, 1: 7})
    assert "is in use; stop somebody at" in said
    member.close()
    with open_transaction(source, f"{name}-offsets", group, {(name, 0): 9}):
        code, said = adopt("--replace")
    assert (code, at_source()) == (2, {0: 40, 1: 7})
    assert f"offsets of group {group} at the source are in a transaction that is still open, for {name}-0: " in said
    assert adopt("--replace", "--known-only")[0] == 0
    assert at_source() == {0: 42, 1: 7}
    assert adopt("--replace")[0] == 0
    assert at_source() == {0: 42, 1: 7, 2: 0}
    with open_transaction(target, offsets):  # of a worker that was killed
        code, said = adopt("--replace")
    assert (code, at_source()) == (1, {0: 42, 1: 7, 2: 0})
    assert f"a transaction is open in {offsets}-" in said
    stand(target, offsets, name, {0: 50}, connector="another")
    code, said = adopt("--replace")
    assert (code, at_source()) == (1, {0: 42, 1: 7, 2: 0})
    assert "offsets of --connector MirrorSourceConnector --cluster west and --connector another --cluster west" in said
    assert adopt("--replace", "--connector", "another")[0] == 0
    assert at_source()[0] == 51
