"""The HTTP server of `--admin.port`: Kafka Connect's REST API over a `Herder`, and who may use it.

Start with `rest_server.py`, then `rest_application.py`. A resource is a class in Connect's words; it knows no HTTP
server, `access.py` knows no connector.
"""
