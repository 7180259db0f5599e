"""Translated offsets of the source's groups, written down at the target, and moved to its groups."""
