"""legacy_mm: kafka-mirror-maker.sh on Spark. This file holds the version and imports nothing."""

__version__ = "0.9.0.dev0"
