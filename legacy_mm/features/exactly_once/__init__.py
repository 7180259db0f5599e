"""Exactly once: its flags. `legacy_mm/transactions` has all the rest."""
