"""The options of the command line that the legacy tool does not have: rows, checks, near misses.

Rule: one row is help, parser, check and page.
"""
