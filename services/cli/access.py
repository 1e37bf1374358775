"""Opens a client of the gateway: the local one, as a user of its development issuer, or one elsewhere by settings."""

import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import httpx
from pydantic import SecretStr

from services.cli.complaints import Complaint
from services.cli.home import Home
from services.cli.settings import CliSettings
from shared.auth.authentication import is_loopback
from shared.auth.development import KEY_FILE, DevelopmentIssuer, load_or_create_service_token
from shared.auth.settings import AuthSettings
from shared.client.administration import Administration
from shared.client.credentials import Credentials
from shared.client.events import Events
from shared.client.exchange import Exchange, Patience
from shared.client.files import RESUMABLE_ABOVE, Files
from shared.client.gateway import Gateway
from shared.client.operating import Operating
from shared.telemetry.stamps import utc_now

TIMEOUT = httpx.Timeout(60.0, connect=5.0)
CONNECTIONS = 72
"""At once: one for each file that may be under way, since whoever waits for an operation keeps one, and a few more.
The pool looks at every one of them for every request, so that many more would cost more than they bring.
"""
RENEWED_BEFORE = timedelta(seconds=60)
ASSERTION_LIFE = timedelta(seconds=600)


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Where the gateway is and as whom it is asked."""

    url: str
    credentials: Credentials
    resumable_above: int = RESUMABLE_ABOVE
    """Files of more bytes go up in pieces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """The gateway, its administration, its operation and its files, over one pool of connections."""

    gateway: Gateway
    administration: Administration
    operating: Operating
    files: Files
    events: Events
    http: httpx.AsyncClient


def find_access(home: Path, settings: CliSettings) -> Access:
    """The gateway by settings, else the one that runs in `home`; a Complaint when there is none."""
    if settings.url is not None:
        return _remote_access(settings.url, settings)
    record = Home(home).read_record() if Home(home).is_up() else None
    if record is None:
        raise Complaint(
            f"No gateway runs in {home}.",
            "Start one with `knowgate up`, say where it runs with --home, or set KNOWGATE_CLI_URL.",
        )
    return Access(
        url=record.url,
        credentials=local_credentials(Home(home), settings),
        resumable_above=settings.resumable_above,
    )


def local_credentials(home: Home, settings: CliSettings, *, clock: Callable[[], datetime] = utc_now) -> Credentials:
    """Credentials of the local development issuer for a session of their own; assertions are renewed in time."""
    if not (home.keys / KEY_FILE).exists():
        raise Complaint(f"{home.root} has no keys yet.", "`knowgate up` makes them.")
    session_id = f"cli-{secrets.token_hex(8)}"
    return Credentials(
        service_token=SecretStr(load_or_create_service_token(home.keys)),
        session_id=session_id,
        assertion=_Minted(DevelopmentIssuer(home.keys), settings, session_id, clock),
    )


class _Minted:
    """Mints an assertion, and another one before it runs out."""

    def __init__(
        self, issuer: DevelopmentIssuer, settings: CliSettings, session_id: str, clock: Callable[[], datetime]
    ) -> None:
        self._issuer = issuer
        self._settings = settings
        self._session_id = session_id
        self._clock = clock
        self._audience = AuthSettings.model_fields["audience"].get_default()
        self._assertion: SecretStr | None = None
        self._good_until: datetime | None = None

    def __call__(self) -> SecretStr:
        now = self._clock()
        if self._assertion is None or self._good_until is None or now >= self._good_until:
            self._assertion = SecretStr(self._mint(now))
            self._good_until = now + ASSERTION_LIFE - RENEWED_BEFORE
        return self._assertion

    def _mint(self, now: datetime) -> str:
        return self._issuer.mint(
            audience=self._audience,
            tenant=self._settings.tenant,
            subject=self._settings.subject,
            session_id=self._session_id,
            now=now,
            groups=self._settings.groups,
            roles=self._settings.roles,
            domains=self._settings.domains,
            life=ASSERTION_LIFE,
        )


@asynccontextmanager
async def opened(access: Access, *, patience: Patience | None = None) -> AsyncIterator[Client]:
    """A client that is closed afterwards. A gateway on this machine is never asked through a proxy."""
    is_here = is_loopback(httpx.URL(access.url).host)
    limits = httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS, keepalive_expiry=30)
    async with httpx.AsyncClient(base_url=access.url, timeout=TIMEOUT, limits=limits, trust_env=not is_here) as http:
        exchange = Exchange(http, access.credentials, patience=patience or Patience())
        files = Files(exchange, resumable_above=access.resumable_above)
        yield Client(
            gateway=Gateway(exchange),
            administration=Administration(exchange),
            operating=Operating(exchange),
            files=files,
            events=Events(exchange),
            http=http,
        )


def _remote_access(url: str, settings: CliSettings) -> Access:
    token, assertion, session_id = settings.service_token, settings.assertion, settings.session_id
    if token is None or assertion is None or session_id is None:
        raise Complaint(
            f"The gateway at {url} needs credentials.",
            "Set KNOWGATE_CLI_SERVICE_TOKEN, KNOWGATE_CLI_ASSERTION and KNOWGATE_CLI_SESSION_ID.",
        )
    return Access(
        url=url,
        credentials=Credentials(service_token=token, session_id=session_id, assertion=lambda: assertion),
        resumable_above=settings.resumable_above,
    )
