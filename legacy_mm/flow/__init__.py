"""One flow: one source, one target, one Settings. It puts all parts together; read `mirror` first."""
