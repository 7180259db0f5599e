"""Pure decisions that both planes share: no client, no clock, no socket. Start with `topic_naming.py`."""
