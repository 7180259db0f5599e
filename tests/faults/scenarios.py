"""The fault scenarios: number, fault, what must come of it. 5, exactly once, is in compat/reports/exactly-once.md.

`legacy` is what the legacy tool's contract says, which is what this tool must do without a flag; `flag` is what a flag
of ours makes of it.
"""

from __future__ import annotations

from typing import NamedTuple


class Scenario(NamedTuple):
    """One row."""

    fault: str
    legacy: str
    flag: str = ""


SCENARIOS = {
    1: Scenario("stopped by a signal while busy", "flush, commit, 143/130/129; nothing lost, nothing doubled"),
    2: Scenario("killed between reading and sending", "nothing lost; doubled: what was not committed"),
    3: Scenario("killed between send and acknowledgement", "nothing lost; doubled: what was not committed"),
    4: Scenario("killed between acknowledgement and commit", "nothing lost; doubled: at most one commit interval"),
    6: Scenario(
        "killed before the first commit, latest",
        "what is written until it reads again is lost (KAFKA-2759); ours says it",
        "--new.topics.from earliest: nothing lost that came after the first start",
    ),
    7: Scenario("frozen beyond the session, then woken", "nothing lost, no older offset committed; doubled: bounded"),
    8: Scenario("leader of the source killed", "a stall; nothing lost, order kept"),
    9: Scenario("leader of the target killed, acks=all", "retries; nothing lost, order kept"),
    10: Scenario(
        "unclean leader election at the source",
        "goes on where the new log parts from what was read; ours says the gap",
        "--on.gap fail: 255",
    ),
    11: Scenario("target below min.insync.replicas", "waits, nothing committed beyond, recovers by itself"),
    12: Scenario("disk of the target full", "as 11, after space returned and the broker restarted"),
    13: Scenario("target down (30 s, 3 minutes)", "waits, stays a member, goes on"),
    14: Scenario("source down", "stays up, goes on"),
    15: Scenario("network to the target stalls, then breaks", "as 13; nothing lost"),
    16: Scenario("slow link, 50 ms each way", "no time-outs, no rebalance, nothing doubled"),
    17: Scenario(
        "password changed at the target", "refused at the next login (ours: 255); nothing lost with the new one"
    ),
    18: Scenario("permission on the topic taken away", "255, nothing committed beyond"),
    19: Scenario(
        "certificate of the target renewed, then by another authority",
        "renewed: goes on; the other: refused (ours: 255), nothing committed beyond, nothing lost once it is trusted",
    ),
    20: Scenario("the name of the target moves to another address", "it is looked up anew; nothing lost"),
    21: Scenario("source topic deleted", "what was not read is lost; the others go on"),
    22: Scenario(
        "source topic deleted and made again",
        "offsets out of range are reset by auto.offset.reset; ours says the gap",
        "--on.gap fail: ends with 255",
    ),
    23: Scenario("retention passes the mirror", "the trimmed part is lost; ours says the gap", "--on.gap fail: 255"),
    24: Scenario("records deleted before they were read", "as 23", "--on.gap fail: 255"),
    25: Scenario(
        "partition added at the source",
        "with earliest: read from its beginning",
        "--new.topics.from earliest: with latest, too",
    ),
    26: Scenario("target has fewer partitions", "each key in the partition of its hash"),
    27: Scenario(
        "record larger than the target allows",
        "abort on: 255, nothing committed; off: counted and passed",
        "--send.on.error quarantine: set aside, the others go on; nothing lost, `redrive` brings them",
    ),
    28: Scenario(
        "corrupt batch on the source's disk",
        "ends at that offset (the legacy tool: its thread fails), 255; what came before is copied",
    ),
    29: Scenario(
        "transactions aborted at the source",
        "copied as plain records",
        "isolation.level=read_committed in the consumer file: left out, and nothing else",
    ),
    30: Scenario(
        "the log ends with control records",
        "committed: the offset behind the last record, so the marker stays as a lag of 1; a next run doubles nothing",
    ),
    31: Scenario("compacted topic, with holes and nulls", "what is left is copied, nulls as nulls; holes are no gaps"),
    32: Scenario("timestamps that the target refuses", "as 27", "as 27"),
    33: Scenario("second process with the same group", "they share; nothing lost, nothing doubled"),
    34: Scenario("quotas on both sides", "slower, no time-outs, no rebalance; nothing lost, nothing doubled"),
}
