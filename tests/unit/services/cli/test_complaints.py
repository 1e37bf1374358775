"""An error of the product becomes a sentence with the way out."""

from datetime import timedelta

from services.cli.complaints import complaint_of, explain
from shared.client.errors import ErrorAnswer, Refused, StillRunning, Unreachable
from shared.contracts.errors import FieldError


def answer(status: int, *faults: FieldError, code: str = "SOME_CODE") -> ErrorAnswer:
    return ErrorAnswer(status=status, code=code, message="No.", retryable=False, field_errors=faults, request_id="r")


def test_a_refusal_names_its_code_and_what_is_wrong_where() -> None:
    fault = FieldError(field="file", reason="FILE_EMPTY", message="The file is empty.")

    assert explain(Refused(answer(422, fault))) == "No. [SOME_CODE] (file: The file is empty.)"


def test_wrong_credentials_lead_to_the_token_command() -> None:
    remedy = complaint_of(Refused(answer(401))).remedy

    assert "knowgate token" in remedy
    assert "disabled nor revoked" in remedy


def test_a_disabled_space_leads_to_enabling_it_and_another_refusal_to_a_role() -> None:
    assert "knowgate spaces enable" in complaint_of(Refused(answer(403, code="SPACE_DISABLED"))).remedy
    assert "Ask for a role" in complaint_of(Refused(answer(403))).remedy


def test_a_gateway_that_is_away_leads_to_up_and_doctor() -> None:
    complaint = complaint_of(Unreachable("http://127.0.0.1:8080", "connection refused"))

    assert complaint.what == "http://127.0.0.1:8080 did not answer: connection refused."
    assert "knowgate up" in complaint.remedy
    assert "knowgate doctor" in complaint.remedy


def test_work_that_goes_on_leads_to_watching_it() -> None:
    complaint = complaint_of(StillRunning("operation op_1", timedelta(seconds=90)))

    assert complaint.what == "operation op_1 has not ended within 90 s."
    assert "operations watch" in complaint.remedy
