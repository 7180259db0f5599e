"""Says what a command line means, before it runs. Rule: it reads, and changes nothing."""
