"""What is counted instead of being told one by one: reads that everybody makes all the time, and nothing else."""

from services.api.audit.counting import is_counted
from shared.contracts.admin import ADMIN_ROUTES
from shared.contracts.files import FILE_GET, FILE_UPLOAD
from shared.contracts.routes import ROUTES
from shared.contracts.transition_events import EVENTS_FOLLOW
from shared.contracts.uploads import UPLOAD_ROUTES


def test_exactly_these_requests_are_counted() -> None:
    every = {*ROUTES, FILE_UPLOAD, FILE_GET, *UPLOAD_ROUTES, EVENTS_FOLLOW, *ADMIN_ROUTES}

    assert {route.tool for route in every if is_counted(route)} == {
        "knowledge_space_list",
        "knowledge_space_get",
        "knowledge_document_list",
        "knowledge_document_get",
        "knowledge_operation_get",
        "knowledge_file_get",
        "knowledge_events_follow",
        "file_upload_look",
        "file_upload_continue",
    }
