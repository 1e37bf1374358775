"""Health, metrics and the contract, for whoever watches the process."""

import json
import re
from dataclasses import replace

import httpx

from services.api.app import build_app
from services.api.health.readiness import Readiness
from services.api.main import Settings, broker_side, checks
from shared.auth.settings import AuthSettings
from shared.contracts.admin import ADMIN_ROUTES
from shared.contracts.catalogue import WorkerSlots
from shared.contracts.enums import Step
from shared.files.settings import FilesSettings
from shared.messaging.announcements import SlotBoard
from tests.integration.api.harness import Gateway, checked_error


async def ask(gateway: Gateway, path: str, **checks: bool) -> httpx.Response:
    async def works() -> None:
        """Nothing fails."""

    async def fails() -> None:
        raise OSError("postgresql://user:password@host")

    parts = replace(gateway.parts, checks={name: works if ok else fails for name, ok in checks.items()})
    transport = httpx.ASGITransport(build_app(parts))
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway", trust_env=False) as client:
        return await client.get(path)


async def test_it_is_ready_when_every_part_works(gateway: Gateway) -> None:
    answer = await ask(gateway, "/readyz", database=True, broker=True, files=True, provider=True, workers=True)

    assert answer.status_code == 200
    assert answer.json() == {"database": "ok", "broker": "ok", "files": "ok", "provider": "ok", "workers": "ok"}


async def test_a_part_that_fails_is_named_and_nothing_more_is_said(gateway: Gateway) -> None:
    answer = await ask(gateway, "/readyz", database=False, broker=True)

    assert answer.status_code == 503
    assert answer.json() == {"database": "failed", "broker": "ok"}


async def test_a_step_that_no_live_worker_takes_is_not_ready_and_named(gateway: Gateway) -> None:
    board = SlotBoard(monotonic=lambda: 0.0)
    board.hear(WorkerSlots(worker_id="w-1", slots=dict.fromkeys(set(Step) - {Step.INGEST}, 1)))
    parts = gateway.parts
    auth = AuthSettings(key_directory=gateway.objects)
    broker = replace(broker_side(Settings(auth=auth, files=FilesSettings(url=gateway.objects.as_uri()))), board=board)
    looked_at = checks(parts.database, parts.store, parts.provider, broker)

    seen = await Readiness(looked_at, monotonic=lambda: 0.0).look()

    assert {name for name, works in seen.items() if not works} == {"broker", "workers.ingest"}


async def test_the_process_lives_whatever_fails(gateway: Gateway) -> None:
    answer = await ask(gateway, "/livez", database=False)

    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


async def test_metrics_name_routes_and_never_ids(gateway: Gateway) -> None:
    await gateway.get("/spaces/spc_secret")
    await gateway.http.get("/nothing-here")
    await gateway.http.request("FROB", "/internal/v1/knowledge/spaces")

    text = (await gateway.http.get("/metrics")).text

    assert 'knowgate_api_requests_total{method="GET",route="knowledge_space_get",status="404"} 1.0' in text
    assert 'knowgate_api_requests_total{method="GET",route="unknown",status="404"} 1.0' in text
    assert 'knowgate_api_requests_total{method="other",route="unknown",status="405"} 1.0' in text
    assert 'knowgate_api_errors_total{code="SPACE_NOT_FOUND"} 1.0' in text
    assert 'knowgate_api_errors_total{code="KNOWLEDGE_NOT_FOUND"} 1.0' in text
    assert "spc_secret" not in text
    assert "nothing-here" not in text


async def test_refused_credentials_are_counted_by_their_reason(gateway: Gateway) -> None:
    await gateway.http.get("/internal/v1/knowledge/spaces", headers=gateway.headers(authorization="Bearer wrong"))
    await gateway.http.get("/internal/v1/knowledge/spaces")

    text = (await gateway.http.get("/metrics")).text

    assert 'knowgate_api_refused_credentials_total{reason="service_token_unknown"} 1.0' in text
    assert 'knowgate_api_refused_credentials_total{reason="header_malformed"} 1.0' in text


async def test_the_contract_is_published(gateway: Gateway) -> None:
    answer = await gateway.http.get("/openapi.json")

    assert answer.json()["openapi"] == "3.1.0"
    assert "/internal/v1/knowledge/search" in answer.json()["paths"]


async def test_the_admin_api_is_published_with_every_schema_that_it_names(gateway: Gateway) -> None:
    document = (await gateway.http.get("/openapi-admin.json")).json()

    assert document["paths"].keys() == {route.path for route in ADMIN_ROUTES}
    named = set(re.findall(r"#/components/schemas/(\w+)", json.dumps(document)))
    assert named <= document["components"]["schemas"].keys()


async def test_a_wrong_method_on_these_is_a_405_too(gateway: Gateway) -> None:
    checked_error(await gateway.http.post("/livez"), 405, "METHOD_NOT_ALLOWED")
