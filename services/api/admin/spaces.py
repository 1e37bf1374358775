"""Spaces taken out of use and back into it."""

from collections.abc import Mapping
from dataclasses import dataclass

from services.api.edge.answers import Answer
from services.api.edge.call import Call, Handler
from services.api.moves import Moves
from services.api.replays import may_manage_space
from services.api.spaces.views import space_body
from shared.contracts.admin import SPACE_DISABLE, SPACE_ENABLE, SwitchRequest
from shared.contracts.enums import Action
from shared.contracts.ids import SpaceId
from shared.contracts.route import Route
from shared.lifecycle.switch_space import switch_space


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceSwitches:
    """A DISABLED space takes no changes and is not searched."""

    moves: Moves

    def handlers(self) -> Mapping[Route, Handler]:
        """Its routes."""
        return {SPACE_DISABLE: self.disable, SPACE_ENABLE: self.enable}

    async def disable(self, call: Call) -> Answer:
        """Take a space out of use."""
        return await self._switch(call, enabled=False)

    async def enable(self, call: Call) -> Answer:
        """Take a space into use again."""
        return await self._switch(call, enabled=True)

    async def _switch(self, call: Call, *, enabled: bool) -> Answer:
        space_id = call.id("spaceId", SpaceId)
        body = await call.read(SwitchRequest)
        around = self.moves.around
        return await self.moves.accept(
            call,
            body,
            lambda conn, request: switch_space(
                conn, space_id, enabled=enabled, reason=body.reason, request=request, around=around
            ),
            needs_broker=False,
            view=lambda done: space_body(done.space),
            reauthorise=may_manage_space(call, Action.MANAGE_SPACES, self.moves.roles),
        )
