"""The words of users: command lines, files and properties of both tools and of our own, which become `Settings`.

`java_clients` reads Java's client properties, `legacy_tool` and `mirror_maker_2` what each tool says, `options` has
our own. Rule: the core knows none of these words.
"""
