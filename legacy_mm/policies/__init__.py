"""Decisions that both planes share. Start with `topic_naming.py`. Rule: pure, so no client, no clock, no socket."""
