"""`knowgate token`."""

import json
from enum import StrEnum, unique
from typing import Annotated

import typer

from services.cli.access import find_access
from services.cli.commands.options import USUAL_HOME, HomeOption
from services.cli.console import answers, remarks
from services.cli.launcher.banner import example_lines, request_headers
from services.cli.roles import remark_unusual
from services.cli.settings import CliSettings


@unique
class Form(StrEnum):
    """How the credentials are printed."""

    HEADERS = "headers"
    CURL = "curl"
    JSON = "json"


def token(
    home: HomeOption = USUAL_HOME,
    form: Annotated[Form, typer.Option("--as", help="Headers for `curl -H @FILE`, whole requests, or JSON.")] = (
        Form.HEADERS
    ),
    subject: Annotated[str | None, typer.Option(help="Who the assertion is about.")] = None,
    tenant: Annotated[str | None, typer.Option(help="Of which tenant.")] = None,
    role: Annotated[list[str] | None, typer.Option(help="With which roles; may be given several times.")] = None,
    group: Annotated[list[str] | None, typer.Option(help="Of which groups.")] = None,
    domain: Annotated[list[str] | None, typer.Option(help="Of which security domains.")] = None,
) -> None:
    """Print the headers of a request to the local gateway; the assertion in them is good for ten minutes."""
    asked = {"subject": subject, "tenant": tenant, "roles": role, "groups": group, "domains": domain}
    settings = CliSettings().model_copy(update={name: value for name, value in asked.items() if value})
    access = find_access(home, settings)
    remark_unusual(role or ())
    console = answers()
    match form:
        case Form.HEADERS:
            for name, value in request_headers(access).items():
                console.print(f"{name}: {value}", markup=False)
        case Form.CURL:
            for line in example_lines(access):
                console.print(line, markup=False)
        case Form.JSON:
            console.print(json.dumps({"url": access.url, "headers": request_headers(access)}), markup=False)
    remarks().print(f"[dim]{access.url}[/]")
