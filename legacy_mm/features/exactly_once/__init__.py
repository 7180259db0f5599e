"""Exactly once: its flags. `legacy_mm/exactly_once` has the steps, `dataplane/transactional_delivery.py` copies."""
