"""The settings that children are given, as environment variables: the machine's own, unless the person has set others.

Nobody gets what it has no use for: a worker has no database and no keys, a projector only the one that it signs with.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from services.cli.home import Home
from shared.auth.authentication import is_loopback
from shared.auth.checkpoints import load_or_create_signer
from shared.auth.development import DevelopmentIssuer, load_or_create_service_token
from shared.auth.service_tokens import digest_of

OURS: Final = "KNOWGATE_"
DATABASE: Final = "KNOWGATE_DATABASE_"
AUTH: Final = "KNOWGATE_AUTH_"
AUDIT: Final = "KNOWGATE_AUDIT_"
FILES: Final = "KNOWGATE_FILES_"
CLI: Final = "KNOWGATE_CLI_"

API_HOST: Final = "KNOWGATE_API_HOST"
API_PORT: Final = "KNOWGATE_API_PORT"
BROKER_URL: Final = "KNOWGATE_NATS_URL"
DATABASE_URL: Final = "KNOWGATE_DATABASE_URL"
FILES_URL: Final = "KNOWGATE_FILES_URL"
SOLE: Final = "KNOWGATE_PROJECTOR_SOLE"
DEVELOPMENT_ISSUER: Final = "KNOWGATE_AUTH_DEVELOPMENT_ISSUER"
SERVICE_TOKENS: Final = "KNOWGATE_AUTH_SERVICE_TOKENS"
KEY_DIRECTORY: Final = "KNOWGATE_AUTH_KEY_DIRECTORY"
AUDIT_KEY: Final = "KNOWGATE_AUDIT_KEY_FILE"
CHECKPOINTS: Final = "KNOWGATE_AUDIT_CHECKPOINT_FILE"
INDEX: Final = "KNOWGATE_EMBEDDED_INDEX"

LOOPBACK: Final = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """The variables of one launch. `outer` is the environment of the person who launches; its settings win."""

    home: Home
    port: int
    outer: Mapping[str, str]

    @property
    def host(self) -> str:
        """Where the api listens."""
        return self.outer.get(API_HOST, LOOPBACK)

    @property
    def url(self) -> str:
        """Where the api is reached from this machine."""
        host = self.host if is_loopback(self.host) else LOOPBACK
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    @property
    def database_url(self) -> str:
        """The database of api and projector."""
        return self.outer.get(DATABASE_URL, f"sqlite:///{self.home.database}")

    @property
    def has_own_broker(self) -> bool:
        """Whether this launch runs the message broker."""
        return BROKER_URL not in self.outer

    @property
    def has_own_database(self) -> bool:
        """Whether nobody else uses the database."""
        return DATABASE_URL not in self.outer

    @property
    def has_own_identity(self) -> bool:
        """Whether the development issuer of the home is believed: only on this machine, and if not set otherwise."""
        return is_loopback(self.host) and not {DEVELOPMENT_ISSUER, SERVICE_TOKENS} & self.outer.keys()

    def of_api(self, broker_url: str) -> dict[str, str]:
        """For the api: everything. Its port is the one that was chosen, whatever stands in the environment."""
        own = {
            API_HOST: self.host,
            DATABASE_URL: self.database_url,
            FILES_URL: self.home.objects.as_uri(),
            INDEX: str(self.home.index),
            BROKER_URL: broker_url,
            **self._identity(),
        }
        return self._merged(own, without=(AUDIT,)) | {API_PORT: str(self.port)}

    def of_worker(self, broker_url: str) -> dict[str, str]:
        """For a worker: broker, files and provider."""
        own = {
            FILES_URL: self.home.objects.as_uri(),
            INDEX: str(self.home.index),
            BROKER_URL: broker_url,
        }
        return self._merged(own, without=(DATABASE, AUTH, AUDIT))

    def of_projector(self, broker_url: str, *, is_only_one: bool) -> dict[str, str]:
        """For a projector: database and broker, what it reconciles with, and what it signs the audit with.

        The only one takes its predecessor's lease: we saw that one die.
        """
        own = {
            DATABASE_URL: self.database_url,
            FILES_URL: self.home.objects.as_uri(),
            INDEX: str(self.home.index),
            BROKER_URL: broker_url,
            CHECKPOINTS: str(self.home.checkpoints),
        }
        if AUDIT_KEY not in self.outer:
            load_or_create_signer(self.home.audit_key)
            own[AUDIT_KEY] = str(self.home.audit_key)
        if is_only_one and self.has_own_database:
            own[SOLE] = "true"
        return self._merged(own, without=(AUTH,))

    def _identity(self) -> dict[str, str]:
        own = {KEY_DIRECTORY: str(self.home.keys)}
        if not self.has_own_identity:
            return own
        DevelopmentIssuer(self.home.keys)  # makes its key, which the api and `knowgate token` read
        token = load_or_create_service_token(self.home.keys)
        known = [{"service": "development", "sha256": digest_of(token).hex()}]
        return own | {DEVELOPMENT_ISSUER: "true", SERVICE_TOKENS: json.dumps(known)}

    def _merged(self, own: Mapping[str, str], without: tuple[str, ...] = ()) -> dict[str, str]:
        return {name: value for name, value in {**own, **self.outer}.items() if not name.startswith((*without, CLI))}
