"""Message handlers and rebalance listeners, in Python and in Java. Rule: plug-in authors import `api` only."""
