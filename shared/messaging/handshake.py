"""The few lines of the NATS protocol that tell, without an event loop, whether a server is ready for work."""

import json
import socket
from datetime import timedelta

PATIENCE = timedelta(seconds=1)
SUBSCRIPTION = "1"
INBOX = "_INBOX.knowgate.ready"


def answers(port: int, token: str) -> bool:
    """Whether the server at this port lets us in and its JetStream answers an account request."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE.total_seconds()) as connection:
            connection.sendall(_questions(token))
            return _is_answered(connection)
    except OSError:
        return False


def _questions(token: str) -> bytes:
    options = {
        "verbose": False,
        "pedantic": False,
        "auth_token": token,
        "lang": "python",
        "version": "1",
        "protocol": 1,
    }
    lines = (
        f"CONNECT {json.dumps(options)}",
        f"SUB {INBOX} {SUBSCRIPTION}",
        f"PUB $JS.API.INFO {INBOX} 0",
        "",  # the empty body
    )
    return "".join(f"{line}\r\n" for line in lines).encode()


def _is_answered(connection: socket.socket) -> bool:
    """JetStream answers with its account's figures, or with an error while it is still starting."""
    with connection.makefile("rb") as lines:
        for line in lines:
            if line.startswith(b"-ERR"):
                return False
            if line.startswith(f"MSG {INBOX} ".encode()):
                return "error" not in json.loads(lines.readline())
    return False
