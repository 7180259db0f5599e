"""Properties of the target's topics follow those of the source's."""
