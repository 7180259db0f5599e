"""Topics that are read or written as a whole: MirrorMaker 2's own ones, and those of commands.

Rule: they use the folders beside them, and none of those knows them.
"""
