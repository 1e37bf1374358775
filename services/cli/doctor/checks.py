"""What is looked at, one function each: it tells what is well, or raises what is not and what to do."""

import asyncio
import os
import socket
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from services.cli.complaints import Complaint
from services.cli.home import Home
from services.cli.launcher.databases import database_settings
from services.cli.launcher.environment import BROKER_URL
from services.cli.launcher.plan import USUAL_PORT, is_free
from services.cli.launcher.readiness import look
from shared.auth.key_files import OTHERS
from shared.database.database import open_database
from shared.database.migrate import require_current
from shared.domain.errors import KnowgateError
from shared.messaging.local_server import find_program
from shared.messaging.settings import MessagingSettings

OLDEST_PYTHON: Final = (3, 11)
BROKER_PORT: Final = 4222
PATIENCE_SECONDS: Final = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Patient:
    """What is examined: a home, and the environment that its gateway would come up in."""

    home: Home
    outer: Mapping[str, str]


Check = Callable[[Patient], str]
"""Tells in a few words what is well; a Complaint otherwise."""


def check_python(patient: Patient) -> str:
    """The interpreter is new enough."""
    if sys.version_info < OLDEST_PYTHON:
        raise Complaint(f"Python {sys.version.split()[0]} is too old.", "Install Python 3.11 or newer.")
    return f"{sys.version.split()[0]} at {sys.executable}"


def check_home(patient: Patient) -> str:
    """The home can be written, and by its owner alone."""
    root = patient.home.root
    if not root.exists():
        nearest = next(parent for parent in root.parents if parent.exists())
        if not os.access(nearest, os.W_OK):
            raise Complaint(f"{root} cannot be made in {nearest}.", "Choose another directory with --home.")
        return f"{root} is made by `knowgate up`"
    if not os.access(root, os.R_OK | os.W_OK | os.X_OK):
        raise Complaint(f"{root} may not be read and written.", "Change its owner, or choose another with --home.")
    keys = patient.home.keys
    for path in (keys, *keys.glob("*")) if keys.exists() else ():
        if path.stat().st_mode & OTHERS:
            raise Complaint(f"{path} may be read or changed by others.", f"chmod go= {path}")
    return str(root)


def check_broker(patient: Patient) -> str:
    """The broker's program is there, or the external broker is."""
    if BROKER_URL not in patient.outer:
        return str(find_program())
    for address in MessagingSettings().servers:
        host, port = _host_and_port(address)
        try:
            socket.create_connection((host, port), timeout=PATIENCE_SECONDS).close()
        except OSError as error:
            raise Complaint(
                f"{host}:{port} does not answer: {error}.", f"Start the broker, or unset {BROKER_URL}."
            ) from error
    return f"{len(MessagingSettings().servers)} external"


def check_database(patient: Patient) -> str:
    """The database is reached, and is of this release."""
    settings = database_settings(patient.home, patient.outer)
    shown = settings.address.render_as_string(hide_password=True)
    file = settings.address.database
    if settings.address.drivername == "sqlite" and not Path(file or "").exists():
        return f"{file} is made by `knowgate up`"

    async def look_at_schema() -> None:
        database = open_database(settings)
        try:
            await require_current(database)
        finally:
            await database.close()

    try:
        asyncio.run(look_at_schema())
    except KnowgateError as error:
        raise Complaint(
            f"{shown}: {error.message}", "Is it running? `knowgate migrate` brings its schema up to date."
        ) from error
    return shown


def check_model(patient: Patient) -> str:
    """The bundled model is installed and loads."""
    try:
        from shared.providers.embedded.embedding import BundledModel, bundled_name  # noqa: PLC0415 - an extra

        BundledModel().embed(["ready"])
    except ImportError as error:
        raise Complaint(f"The embedded engine is not installed: {error}.", "Install the extra `embedded`.") from error
    return bundled_name()


def check_port(patient: Patient) -> str:
    """The usual port can be listened on, or the home's own gateway does."""
    record = patient.home.read_record()
    if record is not None:
        return f"used by this home: {record.url}"
    if not is_free(USUAL_PORT):
        raise Complaint(
            f"Port {USUAL_PORT} is taken by another program.", "`knowgate up` takes another one, or give one: --port."
        )
    return f"{USUAL_PORT} is free"


def check_api(patient: Patient) -> str:
    """The gateway that runs in the home is ready."""
    record = patient.home.read_record()
    if record is None:
        return "not up; `knowgate up` starts it"
    readiness = look(record.url)
    if readiness is None:
        raise Complaint(f"{record.url} does not answer.", f"Look into {patient.home.logs / 'api.log'}.")
    if not readiness.is_ready:
        failed = ", ".join(readiness.failed)
        raise Complaint(f"{record.url} is not ready: {failed}.", f"Look into the logs in {patient.home.logs}.")
    return f"{record.url} is ready: {', '.join(readiness.parts)}"


CHECKS: Final[Mapping[str, Check]] = {
    "python": check_python,
    "home": check_home,
    "broker": check_broker,
    "database": check_database,
    "model": check_model,
    "port": check_port,
    "api": check_api,
}
"""In the order in which they are made and shown."""


def _host_and_port(address: str) -> tuple[str, int]:
    """Of `nats://token@host:port`; nothing before the host is kept."""
    place = address.rpartition("@")[2].removeprefix("nats://").removeprefix("tls://").rstrip("/")
    host, colon, port = place.rpartition(":")
    return (host, int(port)) if colon and port.isdecimal() else (place, BROKER_PORT)
