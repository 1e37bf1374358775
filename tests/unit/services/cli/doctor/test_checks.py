"""The doctor tells what is wrong and what to do about it."""

from pathlib import Path

import pytest

from services.cli.complaints import Complaint
from services.cli.doctor.checks import Patient, check_api, check_database, check_home, check_python
from services.cli.home import Home


def patient(root: Path) -> Patient:
    return Patient(home=Home(root), outer={})


def test_a_home_that_is_not_there_yet_is_no_fault(tmp_path: Path) -> None:
    found = check_home(patient(tmp_path / "new" / "home"))

    assert found == f"{tmp_path}/new/home is made by `knowgate up`"
    assert not (tmp_path / "new").exists()


def test_a_key_that_others_may_read_is_found(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.create()
    key = home.keys / "sealing.key"
    key.write_bytes(b"secret")
    key.chmod(0o644)

    with pytest.raises(Complaint, match=r"sealing\.key may be read or changed by others") as complaint:
        check_home(patient(home.root))

    assert complaint.value.remedy == f"chmod go= {key}"
    key.chmod(0o600)
    assert check_home(patient(home.root)) == str(home.root)


def test_a_database_that_is_not_there_yet_is_not_made_by_looking(tmp_path: Path) -> None:
    assert "is made by `knowgate up`" in check_database(patient(tmp_path))
    assert not (tmp_path / "knowgate.sqlite").exists()


def test_a_database_without_our_tables_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "knowgate.sqlite").touch()

    with pytest.raises(Complaint) as complaint:
        check_database(patient(tmp_path))

    assert "knowgate migrate" in complaint.value.remedy


def test_a_gateway_that_is_not_up_is_no_fault(tmp_path: Path) -> None:
    assert check_api(patient(tmp_path)) == "not up; `knowgate up` starts it"


def test_this_interpreter_will_do(tmp_path: Path) -> None:
    assert check_python(patient(tmp_path)).startswith("3.")
