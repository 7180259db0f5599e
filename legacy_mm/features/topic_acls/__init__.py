"""Access rules for source topics are added for their copies."""
