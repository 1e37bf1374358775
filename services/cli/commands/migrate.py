"""`knowgate migrate`."""

from services.cli.commands.options import USUAL_HOME, HomeOption
from services.cli.console import answers
from services.cli.home import Home


def migrate(home: HomeOption = USUAL_HOME) -> None:
    """Bring the database to this release's schema: the home's own, or the one in KNOWGATE_DATABASE_URL."""
    # Commands that only ask a gateway should not wait for the database's libraries.
    from services.cli.launcher.databases import database_settings  # noqa: PLC0415
    from shared.database.migrate import upgrade  # noqa: PLC0415

    settings = database_settings(Home(home.absolute()))
    upgrade(settings)
    answers().print(f"{settings.address.render_as_string(hide_password=True)} is up to date.", markup=False)
