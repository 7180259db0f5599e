"""The user's wishes, typed and frozen. Start with `settings.py`; nothing here knows a word of the legacy tool."""
