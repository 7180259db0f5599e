"""Tokens by the user's own Java class: its `AuthenticateCallbackHandler` runs in the driver's JVM.

Clients in this process and in copy tasks ask for tokens at an address on loopback that only they know: a port, and a
word of 32 random bytes that travels as a credential does. So no client needs a JVM, and the class is made once.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable, Mapping
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from py4j.protocol import Py4JError, Py4JJavaError

from legacy_mm.base.errors import ConfigurationError, HandlerFailure
from legacy_mm.policies.logins import unfit_extension
from legacy_mm.runtime.jvm.gateway import Jvm
from legacy_mm.runtime.jvm.java_classes import JavaClasses, kind_of, reason_of, with_interface

_AUTH = "org.apache.kafka.common.security.auth."
INTERFACE = f"{_AUTH}AuthenticateCallbackHandler"
_WITHOUT_EXTENSIONS = (
    "javax.security.auth.callback.UnsupportedCallbackException",
    "java.lang.ClassNotFoundException",  # in a Kafka of 2.0
)
_OAUTH = "org.apache.kafka.common.security.oauthbearer."
_MECHANISM = "OAUTHBEARER"
_MILLISECONDS = 1000.0
_REFUSED, _FAILED = 401, 503


class Login(NamedTuple):
    """Holds what a client needs to log in."""

    token: str
    end: float
    """In seconds of the epoch."""
    extensions: dict[str, str]
    """SASL extensions, by their names."""


class TokenRefused(Exception):
    """The class says that this client gets no token."""


class LoginClass:
    """One object of the user's class."""

    def __init__(self, login: Mapping[str, Any], jvm: Jvm) -> None:
        """Make and configure it as Java's client does; raises HandlerFailure in Java's words."""
        self._classes = classes = JavaClasses(jvm, with_interface(login["class_path"], INTERFACE))
        self._lock = threading.Lock()
        try:
            classes.check(login["class"], INTERFACE, with_argument=False)
            self._made = classes.new_instance(login["class"])
            interface = classes.loaded(INTERFACE)
            kinds = [classes.find(name) for name in ("java.util.Map", "java.lang.String", "java.util.List")]
            entry = classes.login_entry(login["module"], classes.map(login["options"]))
            configured = [classes.map(login["configs"]), _MECHANISM, classes.collection([entry])]
            classes.call(interface.getMethod("configure", classes.array("Class", kinds)), self._made, configured)
            callbacks = classes.array_class("javax.security.auth.callback.Callback")
            self._handle = interface.getMethod("handle", classes.array("Class", [callbacks]))
            self._callback = classes.loaded(_OAUTH + "OAuthBearerTokenCallback")
            self._token = classes.loaded(_OAUTH + "OAuthBearerToken")
        except Py4JJavaError as error:
            raise HandlerFailure(f"{login['class']} cannot be made: {reason_of(error)}") from None

    def login(self) -> Login:
        """Return a token, and what goes with it; raises TokenRefused, HandlerFailure."""
        with self._lock:
            try:
                callback = self._handled(self._callback)
                found = self._get(self._callback, "token", callback)
                if found is None:
                    raise TokenRefused(f"it gives no token: {self._get(self._callback, 'errorCode', callback)}")
                value = self._get(self._token, "value", found)
                end = float(self._get(self._token, "lifetimeMs", found)) / _MILLISECONDS
                return Login(str(value), end, self._extensions())
            except Py4JJavaError as error:
                raise HandlerFailure(reason_of(error)) from None
            except (Py4JError, OSError) as error:
                raise HandlerFailure("the Java process for Spark does not answer") from error

    def _extensions(self) -> dict[str, str]:
        """Ask for SASL extensions, as Java's login module does after each token."""
        try:
            kind = self._classes.loaded(_AUTH + "SaslExtensionsCallback")
            found = self._get(kind, "extensions", self._handled(kind))
        except Py4JJavaError as error:
            if kind_of(error) in _WITHOUT_EXTENSIONS:
                return {}
            raise
        extensions = dict(self._get(self._classes.loaded(_AUTH + "SaslExtensions"), "map", found))
        if (reason := unfit_extension(extensions)) is not None:
            raise HandlerFailure(reason)
        return extensions

    def _handled(self, kind: Any) -> Any:
        """Return a callback of this class that the user's one has handled."""
        none = self._classes.array("Class", ())
        callback = kind.getConstructor(none).newInstance(self._classes.array("Object", ()))
        self._classes.call(self._handle, self._made, [self._classes.callbacks([callback])])
        return callback

    def _get(self, kind: Any, method: str, of: Any) -> Any:
        return self._classes.call(kind.getMethod(method, self._classes.array("Class", ())), of, [])


class TokenKeeper(ThreadingHTTPServer):
    """Gives the tokens of all login classes of this process, on loopback."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Request)
        self._word = secrets.token_urlsafe(32)
        self._known: dict[tuple[str, int], int] = {}
        self.logins: list[LoginClass] = []
        threading.Thread(target=self.serve_forever, name="tokens", daemon=True).start()

    def address(self, login_class: str, java: Callable[[], Jvm]) -> str:
        """Return where clients get the tokens of this login; `login_class` as `OAuthSettings.login_class` has it.

        Raises ConfigurationError when the class cannot be made, or gives no token at the start.
        """
        jvm = java()
        key = login_class, jvm.pid
        if key not in self._known:
            try:
                made = LoginClass(json.loads(login_class), jvm)
                made.login()  # Java's client logs in when it is made, too
            except (HandlerFailure, TokenRefused) as error:
                raise ConfigurationError(f"sasl.login.callback.handler.class: {error}") from None
            self.logins.append(made)
            self._known[key] = len(self.logins) - 1
        return f"http://127.0.0.1:{self.server_port}{self.path(self._known[key])}"

    def path(self, number: int) -> str:
        """Return what a client of this login must know."""
        return f"/{self._word}/{number}"


@cache
def keeper() -> TokenKeeper:
    """Return the one of this process, made when it is first asked for."""
    return TokenKeeper()


class _Request(BaseHTTPRequestHandler):
    server: TokenKeeper

    def do_GET(self) -> None:
        """Give a token to who knows the word."""
        known = {self.server.path(number): login for number, login in enumerate(self.server.logins)}
        login = known.get(self.path)
        if login is None:
            self.send_error(404)
            return
        try:
            answer = login.login()._asdict()
        except TokenRefused as refused:
            self._answer(_REFUSED, {"reason": str(refused)})
        except HandlerFailure as failure:
            self._answer(_FAILED, {"reason": str(failure)})
        else:
            self._answer(200, answer)

    def _answer(self, status: int, body: Mapping[str, Any]) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, format: str, *args: object) -> None:
        """Ignore the request line, which needs no log entry."""
