"""What runs beside the requests, and how it ends: nothing that was answered for is left undone in a graceful stop."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass

from services.api.audit.trail import AuditTrail
from services.api.broker.link import BrokerLink
from services.api.broker.outgoing import Outgoing
from services.api.broker.presence import BrokerPresence
from services.api.uploads.clearing import Clearing
from services.api.watches import Watches


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """The process's own tasks."""

    link: BrokerLink
    presence: BrokerPresence
    outgoing: Outgoing
    trail: AuditTrail
    watches: Watches
    clearing: Clearing

    async def beside(self, serving: Awaitable[None]) -> None:
        """Run until `serving` ends, then publish and write what is left. A task that fails ends everything."""
        async with asyncio.TaskGroup() as tasks:
            link = tasks.create_task(self.link.run(self.presence))
            publishing = tasks.create_task(self.outgoing.run())
            writing = tasks.create_task(self.trail.run())
            clearing = tasks.create_task(self.clearing.run())
            watching = tasks.create_task(self.watches.run())
            await serving
            self.watches.stop()
            clearing.cancel()
            await self.outgoing.stop()
            await self.trail.stop()
            await asyncio.wait({publishing, writing, watching})
            link.cancel()
