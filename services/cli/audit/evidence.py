"""Finds what the audit of a home, or of the environment, is to be compared with."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import SecretStr

from services.cli.audit.verifying import Evidence
from services.cli.complaints import Complaint
from services.cli.home import Home
from services.cli.launcher.environment import BROKER_URL
from shared.auth.checkpoints import load_signer
from shared.auth.settings import AuditSettings
from shared.messaging.local_server import address_in
from shared.messaging.settings import MessagingSettings


def find_evidence(
    home: Home,
    settings: AuditSettings,
    *,
    files: Sequence[Path],
    keys: Sequence[Path],
    with_stream: bool,
    outer: Mapping[str, str] = os.environ,
) -> Evidence:
    """What the person has named, else what is set, else what lies in the home."""
    return Evidence(
        files=files or [settings.checkpoint_file or home.checkpoints],
        keys=[_read(path) for path in keys] or _own_key(home, settings),
        broker=_broker(home, outer) if with_stream else None,
    )


def public_key(home: Home, settings: AuditSettings) -> str:
    """The key that verifies this gateway's checkpoints, in PEM; a Complaint when it has none."""
    keys = _own_key(home, settings)
    if not keys:
        raise Complaint(
            f"{home.root} has no key that signs checkpoints.",
            "`knowgate up` makes one; elsewhere KNOWGATE_AUDIT_KEY_FILE names it.",
        )
    return keys[0]


def _own_key(home: Home, settings: AuditSettings) -> list[str]:
    path = settings.key_file or home.audit_key
    return [load_signer(path).public_key] if path.exists() else []


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise Complaint(f"{path} cannot be read: {error.strerror}.") from error


def _broker(home: Home, outer: Mapping[str, str]) -> MessagingSettings:
    if BROKER_URL in outer:
        return MessagingSettings()
    url = address_in(home.broker)
    if url is None:
        raise Complaint(f"No broker runs in {home.root}.", f"Start it with `knowgate up`, or set {BROKER_URL}.")
    return MessagingSettings(url=SecretStr(url))
