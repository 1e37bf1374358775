"""How the api moves state: once per idempotency key, not without a broker for long, and published after the commit."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from sqlalchemy import Connection

from services.api.broker.outgoing import Outgoing
from services.api.broker.presence import BrokerPresence
from services.api.broker.room import Room
from services.api.edge.answers import Answer
from services.api.edge.call import Call
from services.api.edge.canonical import key_digest, request_digest
from services.api.limits.queue import QueueLimit
from services.api.metrics import ApiMetrics
from shared.contracts.body import Body
from shared.contracts.enums import Step
from shared.database.database import Database
from shared.database.idempotency import RequestKey
from shared.domain.authorization import RoleTable
from shared.lifecycle.acceptance import Moved
from shared.lifecycle.once import Effect, KeyedRequest, Reauthorise, once
from shared.lifecycle.request import Request
from shared.lifecycle.surroundings import Surroundings

Result = TypeVar("Result", bound=Moved)

Move = Callable[[Connection, Request], Result]
"""Moves state; one of the functions of `lifecycle` with its arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moves:
    """Runs the moves that callers ask for."""

    database: Database
    around: Surroundings
    roles: RoleTable
    presence: BrokerPresence
    queue: QueueLimit
    room: Room
    outgoing: Outgoing
    metrics: ApiMetrics

    def request(self, call: Call, key: str | None = None) -> Request:
        """What a move is told of the call."""
        return Request(
            caller=call.caller,
            roles=self.roles,
            traceparent=call.stamps.traceparent,
            request_id=call.stamps.request_id,
            tool_call_id=call.tool_call_id,
            idempotency_digest=None if key is None else key_digest(key),
        )

    async def accept(
        self,
        call: Call,
        body: Body,
        move: Move[Result],
        *,
        first_step: Step | None = None,
        needs_broker: bool = True,
        view: Callable[[Result], Body],
        reauthorise: Reauthorise,
    ) -> Answer:
        """Make a move once and answer for it; work that was taken on is done whatever becomes of this process.

        `first_step`: of the command that this process may publish itself; None leaves it to the dispatcher.
        `needs_broker`: False for what is done when it is answered; a document is taken out of use broker or not.
        """
        key = call.idempotency_key()
        request = replace(self.request(call, key), publishes=first_step is not None and self.room.take(first_step))
        keyed = KeyedRequest(
            key=RequestKey(tenant_id=call.caller.tenant, subject=call.caller.subject, route=call.route.tool, key=key),
            digest=request_digest(call.route, _ids(call), body),
            request=request,
        )

        def act(conn: Connection) -> Effect:
            if needs_broker:
                self.presence.require()
            moved = move(conn, request)
            self.queue.require(conn, call.caller.tenant, call.route)
            content = view(moved).to_json().decode()
            return Effect(status=call.route.success_status, content=content, command=moved.command)

        effect = await self.database.write(
            lambda conn: once(conn, keyed, act, reauthorise=reauthorise, around=self.around)
        )
        self._publish(effect, request)
        return Answer(status=effect.status, content=effect.content.encode(), is_replay=effect.is_replay)

    def _publish(self, effect: Effect, request: Request) -> None:
        if effect.is_replay:
            self.metrics.replays.inc()
        if effect.command is not None and request.publishes:
            self.outgoing.offer(effect.command)


def _ids(call: Call) -> Mapping[str, str]:
    return {name: call.id(name, str) for name in call.segments}
