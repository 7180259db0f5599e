"""OpenSSL's reasons in the words that Java's lines have, with what to look at."""

from __future__ import annotations

import ssl

_ALERT = "_ALERT_"
_WORDS = {
    "WRONG_VERSION_NUMBER": "Unsupported or unrecognized SSL message: that listener speaks no TLS, so look at "
    "security.protocol and at the port",
    "TLSV1_UNRECOGNIZED_NAME": "Received fatal alert: unrecognized_name: the broker has no certificate for that host",
    "NO_PROTOCOLS_AVAILABLE": "No appropriate protocol (protocol is disabled or cipher suites are inappropriate)",
    "UNSUPPORTED_PROTOCOL": "The server selected a protocol version that is not accepted here",
}
_WORDS["RECORD_LAYER_FAILURE"] = _WORDS["WRONG_VERSION_NUMBER"]
_ADVICE = {
    "certificate_required": "the broker wants a client certificate, ssl.keystore.location",
    "handshake_failure": "no cipher suite or certificate suits both sides",
    "protocol_version": "the broker takes other versions of TLS",
    "unknown_ca": "the broker does not trust who has issued the client certificate",
    "certificate_expired": "the client certificate has expired",
}
"""Alert -> the usual reason; others speak for themselves."""


def handshake_reason(error: ssl.SSLError) -> str:
    """Return why there is no TLS: `Received fatal alert: certificate_required`, and what that means."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"broker certificate could not be verified: {error.verify_message}"
    reason = error.reason or ""
    _, is_alert, alert = reason.partition(_ALERT)
    if is_alert:
        advice = _ADVICE.get(alert.lower())
        return f"Received fatal alert: {alert.lower()}" + (f": {advice}" if advice else "")
    return _WORDS.get(reason) or (reason or error.strerror or type(error).__name__).lower().replace("_", " ")


def broken_reason(error: OSError, *, connected: bool) -> str:
    """Return why a connection is lost, or cannot be made; `connected`: it was there before."""
    if not isinstance(error, ssl.SSLEOFError):
        return error.strerror or str(error)
    if connected:
        return "the broker closed the connection"
    return (
        "terminated during the TLS handshake: that listener may speak no TLS (look at security.protocol and at the "
        "port), a firewall may let none through, or the broker is about to stop"
    )
