"""The part that runs in the driver: memberships, commits, copy jobs, the topic watch. Start with `stream.py`."""
