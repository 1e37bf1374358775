"""Which database a home uses."""

import os
from collections.abc import Mapping

from pydantic import SecretStr

from services.cli.home import Home
from services.cli.launcher.environment import DATABASE_URL
from shared.database.settings import DatabaseSettings


def database_settings(home: Home, outer: Mapping[str, str] = os.environ) -> DatabaseSettings:
    """The database that is set in the environment, else the home's own."""
    return DatabaseSettings(url=SecretStr(outer.get(DATABASE_URL, f"sqlite:///{home.database}")))
