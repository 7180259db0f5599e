"""Names of topics at the target: aliases, replication policies, MirrorMaker 2's lists of topics."""
