"""Requests of an admin: looks at a cluster, and changes of topics, properties and rules. Start with `cluster_admin.py`.

Rule: a request has a deadline, and names what failed.
"""
