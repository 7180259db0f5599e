"""The status page as text: what is known of the flows in words and numbers, and the templates that show it.

Rule: it knows no HTTP. Whatever comes from outside, such as the name of a group, is text and never markup.
"""
