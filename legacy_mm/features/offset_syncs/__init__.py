"""Pairs of offsets, of a record and its copy, for those who translate offsets."""
