"""Arguments that ask for nothing that could be sent are a wrong use, found before any gateway is looked for."""

import pytest
from typer.testing import CliRunner

from services.cli.main import build
from services.cli.tables import every, show_table
from shared.client.gateway import Page
from shared.contracts.admin import Principal
from shared.contracts.enums import PrincipalKind
from shared.contracts.paging import Pagination


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["grants", "add", "--space", "x"], "exactly one of --user"),
        (["grants", "remove", "--space", "x", "--user", "a", "--role", "b"], "exactly one of --user"),
        (["grants", "add", "--space", "x", "--user", "a" * 257], "principal.name"),
        (["grants", "add", "--space", "x", "--user", "a", "--document", "two words"], "document id"),
        (["accounts", "set", "a", "--role", "x", "--role", "x"], "roles"),
        (["tokens", "create", "two words"], "service"),
        (["tokens", "create", "loader", "--days", "0"], "from a minute to 3650 days"),
        (["tokens", "create", "loader", "--days", "nan"], "from a minute to 3650 days"),
        (["revoke", "assertion", "nonsense"], "neither an assertion nor"),
        (["operations", "list", "--older-than", "soon"], "must be seconds or ISO 8601"),
        (["operations", "list", "--older-than", "P366D"], "must be seconds or ISO 8601"),
        (["operations", "fail", "op_1"], "Missing option '--reason'"),
        (["dead-letters", "discard", "ltr_1", "--reason", ""], "reason"),
        (["dead-letters", "list", "--status", "lost"], "'lost' is not one of"),
    ],
)
def test_a_wrong_use_is_told_with_its_exit_code(words: list[str], told: str) -> None:
    result = CliRunner().invoke(build(), words, env={"COLUMNS": "300"})

    assert result.exit_code == 2, result.output
    assert told in result.stderr


async def test_every_page_of_a_list_is_read() -> None:
    async def read(number: int) -> Page[Principal]:
        items = (Principal(kind=PrincipalKind.USER, name=f"user-{number}"),)
        return Page(items=items, pagination=Pagination.of(number, 1, 3))

    assert [item.name for item in await every(read)] == ["user-1", "user-2", "user-3"]


def test_a_table_in_a_pipe_has_a_line_for_each_row_with_nothing_cut_off(capsys: pytest.CaptureFixture[str]) -> None:
    show_table(("id", "name"), [("x" * 300, "[bold]not markup[/]")])

    lines = capsys.readouterr().out.splitlines()
    assert any(line.split() == ["x" * 300, "[bold]not", "markup[/]"] for line in lines)
