"""Log lines that operators meet: the beginning or middle of the line, its meaning, and what to do.

`bin/reference` makes docs/reference/log-lines.md of these rows. `tests/structure/test_docs.py` checks that each
line is one that the program logs.
"""

from __future__ import annotations

from typing import NamedTuple


class LogLine(NamedTuple):
    """One row."""

    line: str
    meaning: str
    advice: str


LOG_LINES = (
    LogLine(
        "is left alone: ",
        "A distributed worker found a connector in its topic of configurations that is not of MirrorMaker 2. It does "
        "not run, and the topic keeps it for a worker of Kafka Connect.",
        "Nothing, or move it to another group of workers.",
    ),
    LogLine(
        "cannot run as it stands in topic",
        "Somebody, such as another worker, has written a configuration that cannot be used. A connector that ran "
        "before goes on with the earlier one.",
        "Send a configuration that can be used with PUT /connectors/NAME/config.",
    ),
    LogLine(
        "Mirror maker thread failure due to",
        "A stream died. The whole mirror ends with 255, as the legacy tool does. The reason follows on the line.",
        "Remove the reason, then restart.",
    ),
    LogLine(
        "Stream {stream} failed, so its flow stops",
        "A stream died, and the others of its flow stop with it. The line before says why. Other flows go on.",
        "See the line before.",
    ),
    LogLine(
        "All flows of this process stop",
        "MirrorMaker 2's flows: the process has lost its Java, and ends with 3. What was copied is committed.",
        "Look for killed processes (memory), and start it again.",
    ),
    LogLine(
        "Invalid topic pattern",
        "The pattern of topics is no regular expression of Java's. The mirror ends with 255, as the legacy tool does.",
        "The next line has the pattern that was probably meant; docs/how-to/troubleshoot.md has more.",
    ),
    LogLine(
        "Error when sending message to topic",
        "The target refused a record. The line names the error, such as too large, or no right to write.",
        "See docs/how-to/refused-records.md; the next line has the record's place at the source, and the remedy.",
    ),
    LogLine(
        "Not sent to topic",
        "The place at the source and the time of records that the target does not have, beside the legacy tool's "
        "line. Copying ends there, or they are lost because of abort.on.send.failure=false or errors.tolerance=all.",
        "Mend what the line names; docs/how-to/refused-records.md says how to keep such records.",
    ),
    LogLine(
        "Some refused records go into the file",
        "The topic of the quarantine has limits of its own, which the start has found. What it refuses, too, goes into "
        "the file that the line names.",
        "Give the topic the property that the line names; docs/how-to/refused-records.md has an example.",
    ),
    LogLine(
        "Failed to commit offsets because",
        "A commit timed out, or the group has rebalanced meanwhile.",
        "Nothing, if it is rare: the offsets are committed later, or the new owner copies the records again.",
    ),
    LogLine(
        "Records are copied by uncompiled Python",
        "The installation found no C compiler that works, or its compiled file does not load on this host.",
        "Install a C compiler (or let pip reach the package index, for ziglang), then install legacy_mm again.",
    ),
    LogLine(
        "Fetching the Java interfaces of Kafka",
        "A message handler, a rebalance listener or a transform in a jar needs Kafka's interfaces, and no jar of the "
        "class path has them. The mirror waits for the download.",
        "Nothing; it comes once for each user and host. Where there is no network, name a Kafka that has them "
        "(for handlers and listeners one before 4.0) in LEGACY_MM_KAFKA_HOME.",
    ),
    LogLine(
        "partitions have leader brokers without a matching listener",
        "These partitions have a leader, and the mirror cannot reach it: that broker has no listener of the name over "
        "which the mirror came in. Its partitions wait, others go on.",
        "Give the broker that listener in `listeners` and `advertised.listeners`, as all others have it. Or name "
        "another listener's addresses in bootstrap.servers.",
    ),
    LogLine(
        "It waits, and what follows it in its partition",
        "A flow of MirrorMaker 2's file: the target refuses this record. Its partition stands at it, all others go on, "
        "and nothing is copied again. It is sent again at growing pauses, up to 300 s.",
        "Mend what the line names, at the target. Or set errors.tolerance=all for the flow to leave such records out.",
    ),
    LogLine(
        "which is left out (errors.tolerance=all)",
        "A transform in a jar, or a converter behind it, failed on this record, and the file says that such records "
        "may be lost. It is not at the target, and its offset is committed.",
        "Mend the transform, or take errors.tolerance=all away to stop at such a record.",
    ),
    LogLine(
        "so they seem to be there, and would come twice",
        "The flow has no position for a topic whose copy holds records already, as after a move or behind a source "
        "that was rebuilt. It copies all of the topic. The times of records tell how far the copy goes.",
        "Stop the flow if that is not meant, and set the position that the line names.",
    ),
    LogLine(
        "and would be skipped. To have them",
        "The same, but the flow begins at the end of the topic. What the copy lacks is not copied.",
        "Stop the flow if that is not meant, and set the position that the line names.",
    ),
    LogLine(
        "what is there of this source comes twice",
        "The group of the mirror had no offset for a partition, and the target held records of it already.",
        "Stop the mirror if that is not meant. Delete the doubled copy, or the group's offsets, and look at legacy-mm "
        "plan before the next start: it says where the group goes on behind a copy.",
    ),
    LogLine(
        "Exactly once is off here",
        "This mirror copies at least once, and the flow's offsets come from mirrors that copied exactly once.",
        "Nothing; what a killed one had copied comes twice. How to turn it off without that: "
        "docs/how-to/exactly-once.md, Turn it off.",
    ),
    LogLine(
        "has not committed was given up",
        "Exactly once: a transaction did not end in time, or another mirror owns the bundle. Its records are copied "
        "again; read_committed readers see none of them twice.",
        "Nothing, if it is rare, as after a rebalance. Else look for a target that hardly answers, and for a second "
        "mirror with this group.",
    ),
    LogLine(
        "Not all members of the group want these topics",
        "Exactly once: mirrors of one group have other patterns, or one does not know a new topic yet. The topics wait "
        "until all members want them.",
        "Give all mirrors of the group the same pattern.",
    ),
    LogLine(
        "s (CONCURRENT_TRANSACTIONS): look at it with",
        "Exactly once: the coordinator cannot end a transaction, often because a partition that took part in it has no "
        "leader. Its bundle waits, others go on.",
        "Look at the partitions at the end of the line: they have no marker yet. Brokers before 3.0 do not tell them; "
        "there, look for partitions without a leader.",
    ),
    LogLine(
        "has answered COORDINATOR_LOAD_IN_PROGRESS",
        "Exactly once: a broker of the target leads a part of `__transaction_state` and has not read it. Brokers with "
        "ZooKeeper that lose it meanwhile never try again. The bundles of that part wait, others go on.",
        "Look into that broker's log for `load-txns-for-partition`, and restart the broker. Nothing is lost.",
    ),
    LogLine(
        "Nothing is copied for {entries}",
        "Entries of --whitelist, --include or topics that have matched no topic of the source for a minute. Told once.",
        "Compare their spelling with kafka-topics.sh --list at the source, and see to the right Describe. Nothing, if "
        "the topic comes later.",
    ),
    LogLine(
        "is read beyond offset {offset}, though its log ends at",
        "A transaction at the source has been open for longer than producers let it by default. Committed readers get "
        "nothing behind its begin; the mirror is one.",
        "If find-hanging names it, kafka-transactions.sh abort ends it. Otherwise its producer has a long time-out.",
    ),
    LogLine(
        "has copied nothing for {seconds} s",
        "Exactly once: a bundle is not at work, and waits for what the line says. Other bundles go on.",
        "Do what the line says. If it names the group, look for a member that holds up a rebalance.",
    ),
    LogLine(
        "lost {partitions}; not committed",
        "The group took the partitions away, because no heartbeat came in time. The new owner copies again what was "
        "not committed.",
        "Look for a frozen host or network.",
    ),
    LogLine(
        "copy job lost",
        "The process that copied stalled or died. Another one begins at the safe offsets.",
        "Look for killed processes (memory). Four times in five minutes end the mirror; on a cluster without room, ten "
        "minutes.",
    ),
    LogLine(
        "Gap in {partition}",
        "Records were removed before they were copied, or are there and were skipped by auto.offset.reset=latest. The "
        "line says how many, and where copying resumes. This place is committed at once.",
        "See docs/how-to/troubleshoot.md for the way on. To prevent it: more streams or hosts, longer retention.",
    ),
    LogLine(
        "Gap in {topic}: the topic was deleted and recreated",
        "Copying begins in the new topic as auto.offset.reset says.",
        "Nothing.",
    ),
    LogLine(
        "Skipped in {partition}",
        "The group had no offset and auto.offset.reset is latest, so copying began at the end of the log.",
        "Nothing at a first start that should begin now. Otherwise set auto.offset.reset=earliest, or "
        "--new.topics.from earliest. Turned on later, that option copies from the start every partition that has "
        "never had a commit; explain lists them.",
    ),
    LogLine(
        "{partition} begins at offset {start}, its first of {time} or later",
        "No position of the partition was known, and `start.from` names a time. What is before is not copied. The "
        "place is committed at once, and counts from then on, whatever the flag says.",
        "Nothing. To begin elsewhere, set the position while no mirror runs.",
    ),
    LogLine(
        "[group-offsets] group {group} was rewound at the source",
        "The group went back at the source. At the target it stays where it is, as with MirrorMaker 2, so its "
        "consumers there would not read these records again. The line comes once for each group.",
        "Nothing, if it need not read them again there. Else stop its consumers at the target and run the command of "
        "the line, for each partition.",
    ),
    LogLine(
        "[checkpoints] group {group} has no checkpoint",
        "The group is at offsets before everything that the mirror has written down of these partitions.",
        "legacy-mm translate --group G --explain says why.",
    ),
    LogLine(
        "Attention: {what}",
        "Source and target are one cluster: records are copied into their own topics. The mirror ends when they come "
        "back.",
        "Look at bootstrap.servers and advertised.listeners. To rename topics within a cluster use "
        "rename.topics with equal aliases.",
    ),
    LogLine(
        "The copy of {partition} in topic",
        "A topic of the target was deleted and recreated. What the mirror had passed is not copied again.",
        "Nothing, if that was meant. Otherwise set the offsets of the group back, as the line says.",
    ),
    LogLine(
        "Not committed before the stop",
        "The stop ran out of time. These records are copied again.",
        "A longer --shutdown.timeout.ms.",
    ),
    LogLine(
        "Stop not finished after",
        "A stream, or a flow, did not come back within --shutdown.timeout.ms. The process ends without it.",
        "Look for `Not committed before the stop`: these records are copied again. A longer --shutdown.timeout.ms, if "
        "the target is slow.",
    ),
    LogLine(
        "Not copied before the stop",
        "Records wait at the source for a topic that the target does not have. What was copied is committed.",
        "Create the topic. The next start continues there.",
    ),
    LogLine(
        "Topic {topic} cannot be written at the target",
        "The target lacks the topic, or a partition of it has no leader. Its records wait at the source; other topics "
        "are copied.",
        "See docs/how-to/troubleshoot.md. Copying goes on by itself once the topic can be written.",
    ),
    LogLine(
        "The target does not have these topics yet",
        "The target was asked for these topics and does not have them. The line comes at growing pauses.",
        "Nothing, if the target creates topics by itself. Else create them.",
    ),
    LogLine(
        "its source is compacted, so it waits",
        "topic.creation has not made this copy in time. Brokers would make it with cleanup.policy=delete, so its "
        "records wait.",
        "Look for a line of [topic-creation] with the reason, or create the topic with the source's cleanup.policy.",
    ),
    LogLine(
        "is still missing at the target and is left to its brokers",
        "topic.creation has not made this copy in 30 s. The mirror no longer waits for it, and the target's brokers "
        "are asked.",
        "Look for a line of [topic-creation] with the reason.",
    ),
    LogLine(
        "can only replace all properties of a topic at once",
        "Old brokers take all properties of a topic in one request, so a change of somebody else's at the same moment "
        "is lost.",
        "Let nobody else change properties of the copies.",
    ),
    LogLine(
        "Offsets of topics that no longer exist are forgotten",
        "A topic of the source was deleted. Its offsets are not committed any more.",
        "Nothing.",
    ),
    LogLine(
        "The source did not say whether topics still exist",
        "After a commit that timed out the source did not tell its topics either.",
        "Nothing, if it is rare: the offsets are kept and committed later.",
    ),
    LogLine(
        "the nodes of group {group} have files that choose different topics",
        "MirrorMaker 2's flows: the nodes of one flow do not have the same file. The line says what becomes of the "
        "topics.",
        "Give all nodes the same file.",
    ),
    LogLine(
        "is not of the log that the source has now",
        "MirrorMaker 2's flows: the topic was made anew, or the source was rebuilt. The topic is copied from its "
        "first record.",
        "Nothing, if that was meant. The copy then holds records of both logs.",
    ),
    LogLine(
        "It is not known yet whether source and target are one cluster",
        "One of them did not tell its id. The mirror asks again.",
        "Nothing, if it is rare; else look whether both clusters answer.",
    ),
    LogLine(
        "What the message handler made of {partition} is the first",
        "Topics that a handler writes were empty when copying went on. If one of them was deleted, its earlier "
        "records are missing.",
        "Nothing, if nothing was deleted. Else do what the line says.",
    ),
    LogLine(
        "Receipts cannot be written",
        "The file of --receipts cannot be written. Copying goes on, and the receipts of this time are missing.",
        "Make room, or mend the rights of the folder; the file is tried again with each receipt.",
    ),
    LogLine(
        "Control channel: {peer} refused",
        "Somebody connected to the mirror's own port without its secret, or a copy task of another version did.",
        "Nothing, if it was a port scanner. On a Spark cluster: one version of legacy_mm on all hosts.",
    ),
    LogLine(
        "keys; the one of {alias} is used",
        "The key store has several private keys; Java and the mirror take one of them.",
        "Keep one key in the store, if another one was meant.",
    ),
    LogLine(
        "but not its issuer",
        "librdkafka, which keeps the membership here, wants the whole chain up to the root.",
        "Add the issuers to the trust store.",
    ),
    LogLine(
        "The mirror does not use the changed key stores yet",
        "A changed store cannot be read, or a cluster refuses it. The mirror goes on with the former one.",
        "Mend the store; it is tried again by itself.",
    ),
    LogLine(
        "MBeans cannot be published",
        "The JVM did not take the numbers for JMX. Copying goes on; the numbers at --metrics.port are right.",
        "Restart the mirror if JMX is needed.",
    ),
    LogLine(
        "A request to the port of the metrics failed",
        "An answer at --metrics.port could not be made. Copying goes on.",
        "If it comes again, report it with the line.",
    ),
    LogLine(
        "A request to --admin.port failed",
        "An answer of the REST API could not be made; the caller got 500. Copying goes on.",
        "If it comes again, report it with the line.",
    ),
    LogLine(
        "and other hosts may reach it",
        "--admin.insecure lets the REST API listen for other hosts; the line names what is missing.",
        "Give it a certificate and a token, as docs/how-to/secure.md says.",
    ),
    LogLine(
        "Reload, {what}: {change}",
        "The files of the start were read again by an order to --admin.port, and this changed, or was left as it is.",
        "Nothing.",
    ),
    LogLine(
        "{who} at {address} asked for {request}: {outcome}",
        "Somebody has asked the REST API for a change, such as a pause. The number is the status of the answer: 403 "
        "means that actions are switched off, or that a page of another site asked.",
        "Nothing, if you know who it was.",
    ),
    LogLine(
        "gave no right token to --admin.port",
        "A login failed. The line comes at the first, second, fourth try and so on.",
        "Give the caller the token, or find out who it is.",
    ),
    LogLine(
        "can be read by other users of this host",
        "Whoever reads the token may use the REST API.",
        "chmod 600 FILE.",
    ),
    LogLine(
        "--admin.port keeps its earlier certificate",
        "A changed certificate or key cannot be read, or they do not belong together. It is tried again each second.",
        "Mend the files.",
    ),
    LogLine(
        "Exactly once: {what}",
        "Something at the target puts positions at risk, such as min.insync.replicas of the topic of positions.",
        "Do what the line says. Copying goes on.",
    ),
    LogLine(
        "No heartbeat reaches the target",
        "emit.heartbeats.enabled: the target does not take the heartbeat. The line comes once, until one arrives.",
        "Look at the rights on the topic heartbeats, and at the target. Copying goes on.",
    ),
    LogLine(
        "The time was over before the end of {topic}",
        "A program with legacy_mm.client read a topic for as long as it allows, and has not reached its end.",
        "Give it more time: the time-out of the call.",
    ),
    LogLine(
        "cannot be read as {kind} and are ignored",
        "A topic of MirrorMaker 2's (offset syncs, checkpoints, heartbeats) holds records of another form.",
        "Look who else writes to that topic.",
    ),
    LogLine(
        "The target refuses an idempotent producer",
        "It lacks the right, or is too old. The mirror goes on without idempotence, with one request in flight.",
        "Grant IdempotentWrite, or do nothing.",
    ),
    LogLine(
        "It is not known whether records for {partition} have arrived",
        "An answer was lost, and the mirror may not read the target's log. It sends the records again.",
        "Grant Read on that topic at the target.",
    ),
    LogLine(
        "JAVA_HOME={home} is ignored",
        "That Java is older than 17, or does not run. Another one was found.",
        "Name a newer one.",
    ),
    LogLine(
        "is left out: Java {release} does not take it",
        "A Java option is made for an older Java.",
        "Take it out of the variable that has it.",
    ),
    LogLine(
        "The message handler failed on",
        "The record is in the quarantine.",
        "Mend the handler, then legacy-mm redrive.",
    ),
    LogLine(
        "The target refuses {partition}",
        "The record is in the quarantine (--send.on.error quarantine).",
        "Let the topic take it, then legacy-mm redrive.",
    ),
    LogLine(
        "does not take {partition} at offset",
        "MirrorMaker 2's flows: the target refuses this record. It waits, and what follows it in its partition; all "
        "others go on.",
        "Do what the line says. The record is sent again by itself, and the mirror goes on.",
    ),
    LogLine(
        "more topics without a position have copies",
        "The start told of the first topics whose copies hold records already; there are more.",
        "legacy-mm plan lists all, and says how to begin behind them.",
    ),
    LogLine(
        "waits at offset {offset}, a record",
        "MirrorMaker 2's flows: the transforms fail on this record, or its batch is corrupt at the source. It waits, "
        "and what follows it in its partition; all others go on.",
        "Mend what the line names. The record is read again by itself.",
    ),
    LogLine(
        "does not take {partition}",
        "The topic of the quarantine refused the record, too. It is in the file.",
        "legacy-mm redrive FILE, and a topic that takes more.",
    ),
    LogLine(
        "it is tried again",
        "A duty of a feature failed. Copying goes on.",
        "Look at the rights, and at topics that cannot be created as asked.",
    ),
    LogLine(
        "[offset-syncs]",
        "Pairs of offsets could not be written down. The line comes once, until the topic takes one.",
        "Look at the rights, and at the topic. Translations are less exact meanwhile; copying goes on.",
    ),
    LogLine(
        "failed and starts again in",
        "Dedicated mode: this flow has failed. It is built again after the pause, which doubles up to 300 s. The other "
        "flows go on.",
        "Remove the reason on the line, such as a cluster that is away. /readyz and legacy_mm_flow_up tell the state.",
    ),
    LogLine(
        "does not run until its configuration is changed",
        "Dedicated mode: no later start of this flow could do better, such as with one cluster under two aliases, or "
        "with topics that come back and would be copied again for ever.",
        "Change the file, then restart this node.",
    ),
    LogLine(
        "because it would come back to",
        "Dedicated mode: the flows of the file would copy this topic in a circle, because names are kept, or because "
        "an alias holds the separator.",
        "Exclude the topic from one of the flows, or do what the line says.",
    ),
    LogLine(
        "the alias of the source, and so says that it is a copy",
        "With rename.topics a topic of the source is called like a copy of one: eu.orders, where the source is eu.",
        "If it is no copy, give the source another alias; the new copies then have other names.",
    ),
    LogLine(
        "continues where MirrorMaker 2 has stopped",
        "The flow's group took over the offsets that MirrorMaker 2 had written for these partitions.",
        "Nothing.",
    ),
)
