"""What there really is at the gateway under test, so that requests get past "there is no such thing"."""

from collections import defaultdict
from collections.abc import Mapping
from random import Random

NAMES: Mapping[str, str] = {
    "spaceId": "spaceId",
    "knowledgeSpaceId": "spaceId",
    "documentId": "documentId",
    "operationId": "operationId",
    "parentOperationId": "operationId",
    "citationId": "citationId",
    "fileResourceId": "fileResourceId",
}
"""Under which name an id of an answer is kept, by the name of the answer's field."""

VERSIONS = ("lockVersion", "version")
MOST_KEPT = 400


class Live:
    """Ids by name, and the versions that changes of them have to name. It learns from every answer."""

    def __init__(self) -> None:
        self._ids: defaultdict[str, list[str]] = defaultdict(list)
        self._versions: dict[str, int] = {}

    def add(self, name: str, value: str) -> None:
        """Keep an id."""
        if value not in self._ids[name] and len(self._ids[name]) < MOST_KEPT:
            self._ids[name].append(value)

    def pick(self, name: str, dice: Random) -> str | None:
        """Any id of that name."""
        known = self._ids.get(name)
        return dice.choice(known) if known else None

    def version_of(self, value: str | None) -> int:
        """The version that a change has to be made from, as far as is known."""
        return 1 if value is None else self._versions.get(value, 1)

    def learn(self, answer: object) -> None:
        """Keep every id in an answer, however deep, with the version beside it."""
        if isinstance(answer, dict):
            self._learn_versions(answer)
            for name, value in answer.items():
                if name in NAMES and isinstance(value, str):
                    self.add(NAMES[name], value)
                else:
                    self.learn(value)
        elif isinstance(answer, list):
            for item in answer:
                self.learn(item)

    def _learn_versions(self, answer: Mapping[str, object]) -> None:
        owner = answer.get("documentId", answer.get("spaceId"))
        version = next((answer[name] for name in VERSIONS if name in answer), None)
        if isinstance(owner, str) and isinstance(version, int):
            self._versions[owner] = version
