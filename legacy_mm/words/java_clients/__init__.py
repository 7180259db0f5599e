"""Java properties files, and what each property of a Java client is here.

Rule: it knows Java's clients and no tool.
"""
