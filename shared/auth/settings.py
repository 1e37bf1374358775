"""Settings of authentication and of sealed values."""

import base64
import binascii
import re
from datetime import timedelta
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from shared.contracts.ids import TenantId
from shared.contracts.text import SHA256_HEX
from shared.telemetry.durations import PositiveDuration

_SAFE_KEY_SET_URL = re.compile(r"https://|http://(localhost|127\.0\.0\.1|\[::1\])[:/]")


class ServiceTokenSettings(BaseModel):
    """One live token of a service: the token itself or its SHA-256 in hexadecimal. Without `tenants` it has all."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    service: str = Field(min_length=1)
    token: SecretStr | None = Field(default=None, min_length=16)
    sha256: str | None = Field(default=None, pattern=SHA256_HEX)
    tenants: frozenset[TenantId] | None = None

    @model_validator(mode="after")
    def _is_given_once(self) -> Self:
        if (self.token is None) == (self.sha256 is None):
            raise ValueError("give either the token or its sha256")
        return self


class IssuerSettings(BaseModel):
    """A known issuer of assertions and its keys: in PEM or as JWK, at an address, or (development) a shared secret."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    issuer: str = Field(min_length=1)
    public_keys: tuple[str, ...] = ()
    jwks_url: str | None = None
    shared_secret: SecretStr | None = None

    @model_validator(mode="after")
    def _has_one_source(self) -> Self:
        sources = (bool(self.public_keys), self.jwks_url is not None, self.shared_secret is not None)
        if sum(sources) != 1:
            raise ValueError("give exactly one of public_keys, jwks_url and shared_secret")
        if self.jwks_url is not None and not _SAFE_KEY_SET_URL.match(self.jwks_url):
            raise ValueError("jwks_url must be https, or http on this machine")
        return self


class AuthSettings(BaseSettings):
    """`KNOWGATE_AUTH_*`; lists are JSON."""

    model_config = SettingsConfigDict(env_prefix="KNOWGATE_AUTH_", frozen=True, hide_input_in_errors=True)

    audience: str = Field(default="knowgate", min_length=1)
    """The audience that assertions must name."""
    service_tokens: tuple[ServiceTokenSettings, ...] = ()
    issuers: tuple[IssuerSettings, ...] = ()
    key_directory: Path | None = None
    """Where a single machine keeps the keys that it makes for itself."""
    development_issuer: bool = False
    """Accept assertions of the issuer whose key lies in `key_directory`. Only for an API bound to this machine."""
    sealing_keys: tuple[SecretStr, ...] = ()
    """Keys for citations and download links, 64 bytes in base64, newest first; without them `key_directory` has one."""

    @field_validator("sealing_keys")
    @classmethod
    def _are_keys(cls, keys: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
        for key in keys:
            if len(_decode(key)) != 64:
                raise ValueError("a sealing key is 64 bytes in base64")
        return keys

    @model_validator(mode="after")
    def _has_a_directory_where_one_is_needed(self) -> Self:
        if self.key_directory is None and (self.development_issuer or not self.sealing_keys):
            raise ValueError("key_directory is needed for the development issuer and in place of sealing_keys")
        return self

    def decoded_sealing_keys(self) -> tuple[bytes, ...]:
        """The sealing keys as bytes."""
        return tuple(_decode(key) for key in self.sealing_keys)


class AuditSettings(BaseSettings):
    """`KNOWGATE_AUDIT_*`: how the ends of the audit chains are signed."""

    model_config = SettingsConfigDict(env_prefix="KNOWGATE_AUDIT_", frozen=True)

    key_file: Path | None = None
    """A private Ed25519 key in PEM that only its owner may read. Without it no checkpoints are signed."""
    checkpoint_file: Path | None = None
    """Where checkpoints are appended, best on another disk than the database: a cut or rewritten chain shows in it."""
    checkpoint_interval: PositiveDuration = timedelta(seconds=60)
    """Between two checkpoints of the chains that have grown."""


def _decode(key: SecretStr) -> bytes:
    try:
        return base64.b64decode(key.get_secret_value(), altchars=b"-_", validate=True)
    except binascii.Error:
        raise ValueError("a sealing key is 64 bytes in base64") from None
