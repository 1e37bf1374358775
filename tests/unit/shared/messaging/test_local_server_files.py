"""What the launcher of the local nats-server decides before it starts anything."""

from pathlib import Path

import pytest

from shared.messaging.local_server import LocalNatsServer, ServerNotStarted, find_program, write_configuration


def test_the_configuration_binds_to_this_machine_with_a_token_and_a_store() -> None:
    written = write_configuration(directory=Path("/var/lib/knowgate"), token="secret", port=-1)

    assert (
        written
        == """\
server_name: "knowgate-local"
listen: "127.0.0.1:-1"
ports_file_dir: "/var/lib/knowgate"
max_payload: 4MB
authorization { token: "secret" }
jetstream {
  store_dir: "/var/lib/knowgate"
  max_memory_store: 256MB
  max_file_store: 100GB
  sync_interval: 10s
}
"""
    )


def test_a_directory_name_with_quotes_stays_one_value() -> None:
    written = write_configuration(directory=Path('/tmp/a "b"'), token="secret", port=4222)

    assert '  store_dir: "/tmp/a \\"b\\""\n' in written


def test_a_chosen_program_is_taken(tmp_path: Path) -> None:
    program = tmp_path / "my-nats"
    program.touch(mode=0o755)

    assert find_program(program) == program


def test_a_chosen_program_that_is_not_there_is_refused_and_nothing_else_is_looked_for(tmp_path: Path) -> None:
    with pytest.raises(ServerNotStarted, match="missing is not a program"):
        find_program(tmp_path / "missing")


def test_a_server_has_no_address_before_its_first_start(tmp_path: Path) -> None:
    with pytest.raises(ServerNotStarted, match="no address"):
        _ = LocalNatsServer(tmp_path).url
