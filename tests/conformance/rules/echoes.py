"""An answer is about what was asked for."""

from typing import Final

from tests.conformance.answers import Answer
from tests.conformance.rules.finding import Findings, found

OF_SPACE: Final = "ECHO a space answered is the one that was asked for"
OF_CREATION: Final = "ECHO a space is created with the very code and name that were sent"
OF_DOCUMENT: Final = "ECHO a document answered is the one that was asked for"
OF_OPERATION: Final = "ECHO an operation answered is the one that was asked for"
OF_RETRY: Final = "ECHO a retry is a new operation and names the one that was retried"

ECHO_RULES: Final = (OF_SPACE, OF_CREATION, OF_DOCUMENT, OF_OPERATION, OF_RETRY)

RETRY: Final = "ManualRetryAccepted"


def echo(answer: Answer) -> Findings:
    """The ids, and what else comes back as it was sent."""
    call, got = answer.call, answer.data
    if not answer.is_success or call.route.data is None or call.route.is_list:
        return
    if call.route.data == "SpaceCreated":
        sent = (call.body["code"], call.body["name"])
        yield found(OF_CREATION, (got["code"], got["name"]) == sent, f"{(got['code'], got['name'])}")
    if call.route.data == RETRY:
        retried = call.ids["operationId"]
        is_child = got["parentOperationId"] == retried and got["operationId"] != retried
        yield found(OF_RETRY, is_child, f"{got['operationId']} of {got['parentOperationId']}")
        return
    for name, rule in (("spaceId", OF_SPACE), ("documentId", OF_DOCUMENT), ("operationId", OF_OPERATION)):
        if name in call.ids and (name != "spaceId" or name in got):
            yield found(rule, got.get(name) == call.ids[name], f"{got.get(name)} and not {call.ids[name]}")
