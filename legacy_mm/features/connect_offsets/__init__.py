"""Offsets in MirrorMaker 2's own topic: a flow goes on where MirrorMaker 2 stopped, and MirrorMaker 2 where it stops.

Rule: only this folder knows which records of the topic are ours.
"""
