"""Exactly once: its flags. `legacy_mm/exactly_once` has the steps, `dataplane/copied_bundle.py` copies."""
