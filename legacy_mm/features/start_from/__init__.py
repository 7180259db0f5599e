"""Copying begins at a time, where no position is known. `controlplane/positions.py` proposes it."""
