"""With what the client shows who is calling: a service's token, a user's assertion, the session of both."""

from collections.abc import Callable
from dataclasses import dataclass

from pydantic import SecretStr

from shared.contracts.route import AUTHORIZATION_HEADER, SESSION_ID, USER_ASSERTION


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """Shown with every request. `assertion` makes a user assertion for `session_id` each time: they are short-lived."""

    service_token: SecretStr
    session_id: str
    assertion: Callable[[], SecretStr]

    def headers(self) -> dict[str, str]:
        """The headers that authenticate one request."""
        return {
            AUTHORIZATION_HEADER: f"Bearer {self.service_token.get_secret_value()}",
            USER_ASSERTION.name: self.assertion().get_secret_value(),
            SESSION_ID.name: self.session_id,
        }
