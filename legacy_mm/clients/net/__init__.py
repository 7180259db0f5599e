"""One logged-in connection to one broker: bytes, TLS, logins, pauses, errors. Start with `connection.py`.

Rule: it knows one address and no cluster.
"""
