"""The rules of the options of `--admin.port`: nobody opens it to others, or lets others act, by mistake."""

from __future__ import annotations

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.settings import RestSettings, is_loopback


def check_rest(rest: RestSettings) -> None:
    """Raise ConfigurationError for a port that others could use without a login, or options that miss their half."""
    if rest.port is None:
        return
    if rest.certificate is None and (rest.key is not None or rest.client_ca is not None):
        name = "--admin.tls.key" if rest.key is not None else "--admin.tls.client.ca"
        raise ConfigurationError(f"{name} needs --admin.tls.certificate: without one there is no TLS")
    if rest.actions and rest.token_file is None:
        raise ConfigurationError(
            "--admin.actions needs --admin.token.file: without a token every user of this host, and every page in a "
            "browser there, could stop the mirror"
        )
    secure = rest.certificate is not None and (rest.token_file is not None or rest.client_ca is not None)
    if not is_loopback(rest.address) and not secure and not rest.insecure:
        raise ConfigurationError(
            f"--admin.address {rest.address} is open to other hosts: give --admin.tls.certificate, and "
            "--admin.token.file or --admin.tls.client.ca; or take the risk with --admin.insecure true"
        )
