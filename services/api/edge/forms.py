"""The form of an answer: the contract puts everything into the envelope, other protocols have forms of their own."""

from datetime import datetime
from typing import Protocol

from starlette.responses import Response

from services.api.edge.answers import Answer, error_response, success_response
from services.api.edge.errors import Refusal
from services.api.edge.stamps import Stamps


class Form(Protocol):
    """Writes down what was answered."""

    def success(self, answer: Answer, stamps: Stamps, now: datetime) -> Response:
        """What a handler has answered."""

    def refused(self, refusal: Refusal, stamps: Stamps, now: datetime) -> Response:
        """An error as it is told outward."""


class Enveloped:
    """The contract's form."""

    def success(self, answer: Answer, stamps: Stamps, now: datetime) -> Response:
        """The answer's JSON under `data`."""
        return success_response(answer, stamps, now)

    def refused(self, refusal: Refusal, stamps: Stamps, now: datetime) -> Response:
        """The error under `meta.error`."""
        return error_response(refusal.error, refusal.status, stamps, now, refusal.headers)
