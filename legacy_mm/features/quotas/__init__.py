"""Client quotas of the source are set at the target, and SCRAM users that it lacks are named."""
