"""MirrorMaker 2's own configuration: the driver's file and connectors in, flows as `Settings` out.

Rule: only here lives what MirrorMaker 2's driver and Kafka Connect make of a file; everything below sees `Settings`.
"""
