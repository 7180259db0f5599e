"""The quarantine: the legacy tool's words go in, our own settings come out. Only `cli` and `client` import it."""
