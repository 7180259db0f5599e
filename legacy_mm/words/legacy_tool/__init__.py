"""The quarantine: the legacy tool's words in, `Settings` out.

It holds what exists only because of the legacy tool: its command line, its releases, the errors of its files, its
start scripts, its log lines. Whoever starts a mirror by `kafka-mirror-maker.sh` needs it. It may go when
nobody does. Rule: nothing below imports it.
"""
