"""Puts the parts of resumable uploads together."""

from services.api.moves import Moves
from services.api.uploads.clearing import Clearing
from services.api.uploads.finishing import Finishing
from services.api.uploads.receiving import Receiving
from services.api.uploads.routes import UploadRoutes
from shared.database.database import Database
from shared.files.settings import FilesSettings
from shared.files.store import FileStore
from shared.telemetry.stamps import Clock


def upload_routes(moves: Moves, store: FileStore, settings: FilesSettings) -> UploadRoutes:
    """Resumable uploads over HTTP."""
    database, around = moves.database, moves.around
    clearing = upload_clearing(database, store, settings, around.clock)
    return UploadRoutes(
        moves=moves,
        settings=settings,
        receiving=Receiving(
            database=database, store=store, around=around, settings=settings, metrics=moves.metrics, clearing=clearing
        ),
        finishing=Finishing(database=database, store=store, around=around, settings=settings, clearing=clearing),
        clearing=clearing,
    )


def upload_clearing(database: Database, store: FileStore, settings: FilesSettings, clock: Clock) -> Clearing:
    """What removes uploads that are over."""
    return Clearing(database=database, store=store, clock=clock, every=settings.sweep_interval)
