"""log4j's configuration files, of both generations, become `LogSettings`. Start with `configuration.py`."""
