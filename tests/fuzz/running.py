"""One run of schemathesis over a gateway, with all of its checks, and what it found."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import schemathesis
from schemathesis import HookContext, Response
from schemathesis.config import SchemathesisConfig
from schemathesis.core.failures import Failure
from schemathesis.engine import Status, events, from_schema
from schemathesis.engine.recorder import ScenarioRecorder

from shared.contracts.route import AUTHORIZATION_HEADER, SESSION_ID, USER_ASSERTION
from tests.fuzz.exceptions import is_a_fault
from tests.fuzz.live import Live
from tests.fuzz.mixing import AnyCase, Credentials, Mixer

FIRST_SERVER_ERROR = 500
_CODE = re.compile(r'"code":"(\w+)"')


@dataclass(frozen=True, slots=True)
class Deviation:
    """An answer, or the lack of one, that the document does not foresee."""

    label: str
    check: str
    text: str
    reproduce: str = ""


@dataclass(slots=True)
class Findings:
    """What a run came to."""

    cases: int = 0
    routes: set[str] = field(default_factory=set)
    statuses: Counter[int] = field(default_factory=Counter)
    server_errors: list[str] = field(default_factory=list)
    deviations: list[Deviation] = field(default_factory=list)

    def add(self, recorder: ScenarioRecorder) -> None:
        """Count one scenario: some requests, most often of one route."""
        for case_id, interaction in recorder.interactions.items():
            label = recorder.cases[case_id].value.operation.label
            self.cases += 1
            self.routes.add(label)
            if interaction.response is not None:
                self._add_status(label, interaction.response)
            self.deviations.extend(_failed(label, recorder, case_id))

    def _add_status(self, label: str, response: Response) -> None:
        self.statuses[response.status_code] += 1
        if response.status_code >= FIRST_SERVER_ERROR:
            code = _CODE.search(response.text)
            self.server_errors.append(f"{label}: {response.status_code} {code.group(1) if code else response.text}")


def fuzz(
    url: str,
    document: dict[str, Any],
    live: Live,
    credentials: Credentials,
    *,
    seed: int,
    examples: int,
    phases: Mapping[str, bool],
) -> Findings:
    """Send generated requests to the gateway at `url`: in the fuzzing phase `examples` for each route."""
    schema = schemathesis.openapi.from_dict(document, config=_config(url, seed, examples, phases))
    mixer = Mixer(live, credentials, seed)

    def map_case(context: HookContext, case: AnyCase) -> AnyCase:
        return mixer.mix(context, case)

    def after_call(context: HookContext, case: AnyCase, response: Response) -> None:
        if response.status_code < 300:
            live.learn(json.loads(response.content)["data"])

    def filter_failure(context: HookContext, failure: Failure, case: AnyCase, response: Response) -> bool:
        return is_a_fault(failure, case, response)

    for hook in (map_case, after_call, filter_failure):
        schema.hook(hook)
    schema.auth(refresh_interval=None)(_service_token(credentials))
    found = Findings()
    for event in from_schema(schema).execute():
        _note(event, found)
    return found


def _service_token(credentials: Credentials) -> type[Any]:
    class ServiceToken:
        """Sets the token where schemathesis does not mean it to be wrong."""

        def get(self, case: AnyCase, context: Any) -> str:
            return credentials()[AUTHORIZATION_HEADER]

        def set(self, case: AnyCase, data: str, context: Any) -> None:
            case.headers[AUTHORIZATION_HEADER] = data

    return ServiceToken


def _config(url: str, seed: int, examples: int, phases: Mapping[str, bool]) -> SchemathesisConfig:
    return SchemathesisConfig.from_dict(
        {
            "seed": seed,
            "base-url": url,
            "continue-on-failure": True,
            "request-timeout": 30,
            "checks": {"enabled": True},
            "output": {
                "sanitization": {"keys-to-sanitize": [AUTHORIZATION_HEADER, USER_ASSERTION.name, SESSION_ID.name]}
            },
            "generation": {"max-examples": examples, "no-shrink": True, "database": "none"},
            "phases": {name: {"enabled": is_wanted} for name, is_wanted in phases.items()},
        }
    )


def _note(event: events.EngineEvent, found: Findings) -> None:
    match event:
        case events.ScenarioFinished():
            found.add(event.recorder)
        case events.NonFatalError():
            found.deviations.append(Deviation(event.label, "engine", f"{event.value!r}"))
        case events.FatalError():
            raise event.exception
        case _:
            pass


def _failed(label: str, recorder: ScenarioRecorder, case_id: str) -> Iterator[Deviation]:
    for check in recorder.checks.get(case_id, ()):
        info = check.failure_info
        if check.status is Status.FAILURE and info is not None and check.name != "not_a_server_error":
            yield Deviation(label, check.name, str(info.failure), info.code_sample)
