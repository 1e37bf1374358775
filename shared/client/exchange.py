"""One request and its answer: headers, repetition of what may be repeated, and the check that the envelope is kept."""

import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar
from urllib.parse import quote

import anyio
import httpx
from pydantic import ValidationError
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt, wait_exponential

from shared.client.credentials import Credentials
from shared.client.errors import BrokenAnswer, Busy, ErrorAnswer, Refused, Unreachable
from shared.client.keys import idempotency_key, request_id
from shared.contracts.body import Body
from shared.contracts.envelope import ErrorEnvelope
from shared.contracts.reading import field_errors_of
from shared.contracts.route import IDEMPOTENCY_KEY, REQUEST_ID, TOOL_CALL_ID, Route
from shared.domain.errors import Transient
from shared.telemetry.stamps import NewId, new_id

Answer = TypeVar("Answer", bound=Body)
Told = TypeVar("Told")
Pause = Callable[[float], Awaitable[None]]

UNRESERVED = "-_.!~*'()"
"""What the agents' client leaves as it is in an id, beside letters and digits; a colon would begin an action."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How often and how long a request that may be repeated is repeated."""

    attempts: int = 5
    first_wait: timedelta = timedelta(milliseconds=200)
    longest_wait: timedelta = timedelta(seconds=3)
    pause: Pause = anyio.sleep
    jitter: Callable[[], float] = random.random
    """Between 0 and 1: which part of the second half of a wait is waited, so that many callers do not come at once."""

    def retrying(self) -> AsyncRetrying:
        """Repeats after transient failures, and raises the last one as it is."""
        longest = wait_exponential(multiplier=self.first_wait.total_seconds(), max=self.longest_wait.total_seconds())

        def wait(state: RetryCallState) -> float:
            failure = state.outcome.exception() if state.outcome else None
            asked = failure.retry_after if isinstance(failure, Transient) else None
            return longest(state) * (0.5 + self.jitter() / 2) if asked is None else asked.total_seconds()

        return AsyncRetrying(
            stop=stop_after_attempt(self.attempts),
            wait=wait,
            retry=retry_if_exception_type(Transient),
            sleep=self.pause,
            reraise=True,
        )


class Exchange:
    """Carries requests of the contract to one gateway in one caller's name."""

    def __init__(
        self, http: httpx.AsyncClient, credentials: Credentials, *, patience: Patience, make_id: NewId = new_id
    ) -> None:
        self.http = http
        self._credentials = credentials
        self._patience = patience
        self._make_id = make_id

    async def ask(
        self,
        route: Route,
        answer: type[Answer],
        *,
        ids: Mapping[str, str] | None = None,
        query: Mapping[str, int | float | str] | None = None,
        body: Body | None = None,
        key: str | None = None,
    ) -> Answer:
        """Send a request of `route` and read its answer; `ids` fill the path.

        A mutation's idempotency key comes from the session, the tool, the path and the body, unless `key` is given.
        """
        path = route.path.format(**{name: quote(value, safe=UNRESERVED) for name, value in (ids or {}).items()})
        content = None if body is None else body.to_json()
        headers = self.call_headers()
        if content is not None:
            headers["Content-Type"] = "application/json"
        if route.idempotency_key:
            headers[IDEMPOTENCY_KEY.name] = key or self._derived_key(route, path, content)

        async def once() -> Answer:
            request = self.http.build_request(route.method, path, params=query, content=content, headers=headers)
            return await self.once(request, answer, route.success_status)

        if route.client_may_retry or route.idempotency_key:
            return await self.repeat(once)
        return await once()

    async def repeat(self, ask: Callable[[], Awaitable[Told]]) -> Told:
        """Ask, and ask again while it fails for a while."""
        return await self._patience.retrying()(ask)

    async def once(self, request: httpx.Request, answer: type[Answer], status: int) -> Answer:
        """Send one request with fresh credentials, and check its answer against the contract."""
        response = await self.send_as_caller(request)
        what = f"{request.method} {request.url.path}"
        if response.is_success:
            return _read_success(response, answer, status, what)
        raise failure_of(response, what)

    async def send_as_caller(self, request: httpx.Request, *, stream: bool = False) -> httpx.Response:
        """Send a request with fresh credentials; no answer at all is `Unreachable`."""
        request.headers.update(self._credentials.headers())
        return await self.send(request, stream=stream)

    async def send(self, request: httpx.Request, *, stream: bool = False) -> httpx.Response:
        """Send a request; no answer at all is `Unreachable`."""
        try:
            return await self.http.send(request, stream=stream)
        except httpx.TransportError as error:
            address = f"{request.url.scheme}://{request.url.netloc.decode()}"
            raise Unreachable(address, str(error) or type(error).__name__) from error

    async def pieces(
        self, request: httpx.Request, status: int, what: str, *, as_caller: bool
    ) -> AsyncGenerator[bytes, None]:
        """An answer of that status, piece by piece; one that breaks off is `Unreachable`.

        Only `as_caller` does the request bear the caller's credentials.
        """
        response = await (self.send_as_caller if as_caller else self.send)(request, stream=True)
        try:
            if response.status_code != status:
                await response.aread()
                raise failure_of(response, what)
            async for piece in response.aiter_bytes():
                yield piece
        except httpx.TransportError as error:
            raise Unreachable(str(request.url.host), str(error) or type(error).__name__) from error
        finally:
            await response.aclose()

    def call_headers(self) -> dict[str, str]:
        """The headers that name a new call; every repetition of it bears them."""
        call_id = self._make_id("call")
        return {
            TOOL_CALL_ID.name: call_id,
            REQUEST_ID.name: request_id(self._credentials.session_id, call_id),
            "Accept": "application/json",
        }

    def _derived_key(self, route: Route, path: str, content: bytes | None) -> str:
        return idempotency_key(self._credentials.session_id, route.tool, path, (content or b"").decode())


def _read_success(response: httpx.Response, answer: type[Answer], status: int, what: str) -> Answer:
    if response.status_code != status:
        raise BrokenAnswer(what, f"the status is {response.status_code} and should be {status}")
    if response.headers.get("Content-Type", "").partition(";")[0].strip() != "application/json":
        raise BrokenAnswer(what, "the content type is not application/json")
    try:
        return answer.model_validate_json(response.content, by_alias=True, by_name=False)
    except ValidationError as error:
        raise BrokenAnswer(what, _first_fault(error)) from None


def failure_of(response: httpx.Response, what: str) -> Refused | Busy | BrokenAnswer:
    """What an answer that is no success means; `what` names the request."""
    try:
        envelope = ErrorEnvelope.model_validate_json(response.content, by_alias=True, by_name=False)
    except ValidationError as invalid:
        return BrokenAnswer(what, f"status {response.status_code}, {_first_fault(invalid)}")
    error = envelope.meta.error
    answer = ErrorAnswer(
        status=response.status_code,
        code=error.code,
        message=error.message,
        retryable=error.retryable,
        field_errors=error.field_errors,
        request_id=envelope.meta.request_id,
        retry_after=asked_wait(response),
    )
    return Busy(answer) if error.retryable else Refused(answer)


def _first_fault(error: ValidationError) -> str:
    fault = field_errors_of(error)[0]
    return f"{fault.field}: {fault.message}"


def asked_wait(response: httpx.Response) -> timedelta | None:
    """How long the gateway asks to wait before the next try; None when it does not say."""
    seconds = response.headers.get("Retry-After", "")
    return timedelta(seconds=int(seconds)) if seconds.isdecimal() else None
