"""Exactly once: its flags. The steps are in `legacy_mm/exactly_once`, the transactions in `dataplane/bundles.py`."""
