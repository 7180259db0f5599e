"""The parts of a mirror's settings, typed and frozen. Start with `settings.py`. Rule: no word of the legacy tool."""
