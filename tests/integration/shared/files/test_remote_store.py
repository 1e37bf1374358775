"""A store over the network that is not there."""

import socket

import pytest
from pydantic import SecretStr

from shared.domain.errors import StoreUnavailable
from shared.files.store import FileStore


@pytest.fixture
def silent_address() -> str:
    """An address of this machine at which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


async def test_a_store_that_does_not_answer_is_unavailable_and_names_neither_host_nor_key(silent_address: str) -> None:
    options = {"endpoint": silent_address, "access_key_id": "key", "secret_access_key": "secret"}
    store = FileStore.open("s3://bucket/prefix", {name: SecretStr(value) for name, value in options.items()})

    with pytest.raises(StoreUnavailable) as raised:
        await store.check()

    assert str(raised.value) == "The gateway's storage is not available right now."
