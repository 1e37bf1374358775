from email.message import EmailMessage
from pathlib import Path

import pytest

from shared.contracts.enums import FailureReason
from shared.providers.embedded.blocks import Block, heading, paragraph
from shared.providers.embedded.failures import DigestFailed
from shared.providers.embedded.parsers.mail import parse_mail

BODY = "The factory acceptance test moves from 14 to 22 September because the flow meter came back late."


def message() -> EmailMessage:
    mail = EmailMessage()
    mail["Subject"] = "Project Albatross"
    mail["From"] = "Anna Ruiz <anna@example.com>"
    mail["To"] = "team@example.com"
    return mail


def read(directory: Path, content: bytes) -> list[Block]:
    path = directory / "mail.eml"
    path.write_bytes(content)
    return list(parse_mail(path, lambda done, total: None))


def test_subject_envelope_body_and_names_of_attachments(tmp_path: Path) -> None:
    mail = message()
    mail.set_content(f"Schedule\n\n{BODY}")
    mail.add_attachment(b"not read", maintype="text", subtype="plain", filename="说明.txt")

    assert read(tmp_path, bytes(mail)) == [
        heading("Project Albatross", 1),
        paragraph("From: Anna Ruiz <anna@example.com>\nTo: team@example.com"),
        heading("Schedule", 2),
        paragraph(BODY),
        paragraph("Attachments: 说明.txt"),
    ]


def test_a_body_in_html_stands_below_the_subject(tmp_path: Path) -> None:
    mail = message()
    mail.set_content("<h1>Schedule</h1><p>new date</p>", subtype="html")

    assert read(tmp_path, bytes(mail))[2:] == [heading("Schedule", 2), paragraph("new date")]


def test_gb2312_that_is_really_gbk_is_read(tmp_path: Path) -> None:
    body = "差旅与费用的報銷，请于五日内提交镕基签字的单据，逾期不予受理。"
    head = b"Subject: x\nContent-Type: text/plain; charset=gb2312\nContent-Transfer-Encoding: 8bit\n\n"

    assert read(tmp_path, head + body.encode("gbk"))[-1] == paragraph(body)


def test_a_file_without_mail_headers_is_no_mail(tmp_path: Path) -> None:
    with pytest.raises(DigestFailed) as failure:
        read(tmp_path, b"just some words\n\nand more")

    assert failure.value.reason is FailureReason.FILE_UNSUPPORTED
