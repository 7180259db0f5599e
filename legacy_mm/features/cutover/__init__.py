"""Consumer groups move to the target for good, and back."""
