"""Builds the AsyncAPI 3.0 document of the pipeline from the catalogue of messages."""

from typing import Any, Final

from pydantic.json_schema import models_json_schema

from shared.contracts.catalogue import CATALOGUE, MessageEntry

ASYNCAPI_VERSION: Final = "3.0.0"
_SCHEMAS: Final = "#/components/schemas/"


def build_asyncapi(version: str) -> dict[str, Any]:
    """The document as plain JSON values. `version` is the product's."""
    models = [(entry.model, "serialization") for entry in CATALOGUE]
    _, schemas = models_json_schema(models, ref_template=_SCHEMAS + "{model}")  # type: ignore[arg-type]
    return {
        "asyncapi": ASYNCAPI_VERSION,
        "info": {
            "title": "Knowgate pipeline",
            "version": version,
            "description": "Commands ask one worker for one thing; events state what became of them. "
            "Headers carry CloudEvents 1.0 attributes in binary mode, traceparent and Nats-Msg-Id.",
        },
        "defaultContentType": "application/json",
        "channels": {entry.name: _channel(entry) for entry in CATALOGUE},
        "operations": {
            f"receive{entry.name}": {
                "action": "receive",
                "channel": {"$ref": f"#/channels/{entry.name}"},
                "summary": f"{entry.receiver} receives what {entry.sender} sends.",
            }
            for entry in CATALOGUE
        },
        "components": {
            "schemas": schemas["$defs"],
            "messages": {
                entry.name: {
                    "name": entry.name,
                    "summary": (entry.model.__doc__ or "").splitlines()[0],
                    "payload": {"$ref": _SCHEMAS + entry.model.__name__},
                }
                for entry in CATALOGUE
            },
        },
    }


def _channel(entry: MessageEntry) -> dict[str, Any]:
    parameters = [part[1:-1] for part in entry.subject.split(".") if part.startswith("{")]
    return {
        "address": entry.subject,
        "description": f"Stream {entry.stream.value}.",
        "parameters": {name: {"description": _PARAMETERS[name]} for name in parameters},
        "messages": {entry.name: {"$ref": f"#/components/messages/{entry.name}"}},
    }


_PARAMETERS: Final = {
    "tenant": "The tenant's token: 26 characters of lower-case base32 of SHA-256 of the tenant's id.",
    "owner": "The operation or purge that the command belongs to.",
}
