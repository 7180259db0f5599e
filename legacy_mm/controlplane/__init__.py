"""The driver's part of a flow: memberships, commits, copy jobs, the topic watch. Start with `stream.py`.

Rule: it decides and commits, and never touches a record.
"""
