"""Tokens for SASL/OAUTHBEARER that librdkafka cannot fetch by itself.

A client's properties ask for them by a property of ours, which `client_properties` exchanges for the callback.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable
from typing import Any

MSK_IAM = "sasl.legacy_mm.msk.iam"
"""Property of ours: log in to Amazon MSK by IAM. Its value is JSON: `region`, and `profile` or `role` and `session`."""
MSK_SIGNER = "aws_msk_iam_sasl_signer"
_MILLISECONDS = 1000
_CLIENT_REFUSED = re.compile(r'"error"\s*:\s*"(?:invalid_|unauthorized_client|unsupported_grant_type)')


def refuses_the_client(answer: str) -> bool:
    """True where a token service says, in the words of RFC 6749, that this client gets no token."""
    return _CLIENT_REFUSED.search(answer) is not None


def msk_iam(options: str) -> Callable[[Any], tuple[str, float]]:
    """librdkafka's `oauth_cb`: a signed token, and when it ends in seconds of the epoch."""
    asked = json.loads(options)

    def token(_: Any) -> tuple[str, float]:
        signer = importlib.import_module(f"{MSK_SIGNER}.MSKAuthTokenProvider")
        if "role" in asked:
            arguments = (asked["role"], asked["session"])
            signed, end = signer.generate_auth_token_from_role_arn(asked["region"], *arguments)
        elif "profile" in asked:
            signed, end = signer.generate_auth_token_from_profile(asked["region"], asked["profile"])
        else:
            signed, end = signer.generate_auth_token(asked["region"])
        return signed, end / _MILLISECONDS

    return token
