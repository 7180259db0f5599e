"""Consumer groups: to be a member of one, and to ask and commit for others. Start with `membership.py`.

Rule: it fetches nothing.
"""
