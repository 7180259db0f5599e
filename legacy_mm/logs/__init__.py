"""Lines of the log: events, layouts, files, and what log4j's files say of them. Rule: nobody else opens a log file."""
