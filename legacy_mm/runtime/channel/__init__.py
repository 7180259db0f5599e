"""The connection between the driver and its copy tasks. Rule: it carries frames, never pickles; no pyspark here."""
