"""Commands, what they print, and exit codes. Start with `mirror_maker.py`. Rule: `exits.py` alone ends the process."""
