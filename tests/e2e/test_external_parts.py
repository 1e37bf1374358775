"""By settings alone the gateway works with a broker and a database that are somebody else's."""

from pathlib import Path

from services.cli.stack import Stack
from shared.client.waiting import has_succeeded
from shared.contracts.retrieval import RetrievalMatches
from tests.e2e.conversation import conversation
from tests.support.postgres import LocalPostgres

TIMETABLE = b"# Ferry\n\nThe ferry to the northern island leaves at seven in the morning.\n"


async def test_a_given_broker_and_database_take_the_place_of_the_homes_own(
    tmp_path: Path, nats_url: str, postgres: LocalPostgres
) -> None:
    variables = {"KNOWGATE_NATS_URL": nats_url, "KNOWGATE_DATABASE_URL": postgres.create_database("gateway")}
    with Stack(tmp_path / "home", variables=variables) as stack:
        assert set(stack.record().children) == {"api", "worker", "projector"}
        async with conversation(stack, "ferries") as talk:
            accepted = await talk.submit("timetable.md", TIMETABLE)
            assert has_succeeded(await talk.end_of(accepted.operation_id))

            found = await talk.search("When does the ferry leave?")

            assert isinstance(found, RetrievalMatches)
            assert found.hits[0].document_id == accepted.document_id
    assert not stack.home.database.exists()
    assert list(stack.home.broker.iterdir()) == []
