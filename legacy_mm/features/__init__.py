"""Features of MirrorMaker 2, all off by default. Rule: a feature that is off creates nothing (invariant E)."""
