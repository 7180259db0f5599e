"""Custom message handlers and rebalance listeners, in Python and in Java. Plug-in authors import `api` only."""
