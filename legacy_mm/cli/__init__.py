"""Entry points and exit codes: the top layer. Start with `mirror_maker.py`; only `exits.py` ends the process."""
