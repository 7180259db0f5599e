"""The translation of a Java client's properties in its surroundings: the login and the realms of files named in
KAFKA_OPTS, the user's class path, our own options.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.words.java_clients import jaas
from legacy_mm.words.java_clients.client_properties import kerberos
from legacy_mm.words.java_clients.client_properties.apply import Hide, Translated, apply
from legacy_mm.words.java_clients.client_properties.bearer import LOGIN_HANDLER
from legacy_mm.words.java_clients.client_properties.rule import Side
from legacy_mm.words.java_clients.system_properties import system_properties
from legacy_mm.words.legacy_tool.class_path import class_path, connect_class_path
from legacy_mm.words.legacy_tool.environment import Environment
from legacy_mm.words.options.option_catalogue import OwnOptions
from legacy_mm.words.options.validate import runs_on_cluster

_DNS_LOOKUP = "client.dns.lookup"


@dataclass(frozen=True, slots=True)
class ClientTranslation:
    """Translates the properties of the clients of one process."""

    environment: Environment
    options: OwnOptions
    dns_lookup_default: bool = False
    """True for releases whose clients read `client.dns.lookup=default`."""
    hide: Hide = lambda secrets: None
    """Takes what providers gave, before an error can quote it."""

    def client(self, side: Side, properties: Mapping[str, str], streams: int, *, literal: bool = False) -> Translated:
        """Translate a client's properties; raises ConfigurationError for what no client can be made of."""
        named, system = self.environment.jvm.system_property, system_properties(self.environment.jvm.options)
        if self.dns_lookup_default and properties.get(_DNS_LOOKUP, "").strip() == "default":
            properties = {**properties, _DNS_LOOKUP: "use_all_dns_ips"}
        file = named(jaas.LOGIN_FILE)
        with_login = jaas.with_login(properties, file, system)
        try:
            read = apply(
                side,
                with_login,
                streams=streams,
                literal=literal,
                ignore_interceptors=self.options.interceptors == "ignore",
                system=system,
                class_path=self.class_path if LOGIN_HANDLER in with_login else (),
                hide=self.hide,
            )
        except ConfigurationError as error:
            if error.property_name == jaas.LOGIN and jaas.LOGIN not in properties and jaas.LOGIN in with_login:
                error.property_name = ""
                error.add_note(f"{file}: the entry {jaas.ENTRY} is the login that is refused.")
            raise
        if "oauth.login_class" in read.values and runs_on_cluster(self.options.spark_master):
            raise ConfigurationError(
                "sasl.login.callback.handler.class names Java code that gives tokens on this host only: the workers "
                f"of --spark.master {self.options.spark_master} cannot ask for them"
            )
        return replace(read, values=kerberos.with_realms(read.values, named(kerberos.REALMS)))

    @property
    def class_path(self) -> tuple[str, ...]:
        """Class path of the user's Java classes."""
        return class_path(self.environment, self.options)

    @property
    def connect_class_path(self) -> tuple[str, ...]:
        """Class path of transforms of Kafka Connect."""
        return connect_class_path(self.environment, self.options)
