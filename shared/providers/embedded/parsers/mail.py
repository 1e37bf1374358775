"""E-mail (RFC 822): the subject as title, who and when, the body as text; attachments are named and not read.

An attachment is a document of its own: whoever wants it searched uploads it.
"""

import email
import email.policy
from collections.abc import Iterator
from email.errors import MessageError
from email.message import EmailMessage, MIMEPart
from pathlib import Path

from shared.contracts.enums import FailureReason
from shared.providers.embedded.blocks import Block, PageReport, heading, paragraph
from shared.providers.embedded.failures import DigestFailed
from shared.providers.embedded.parsers.encodings import decode, read_content
from shared.providers.embedded.parsers.plain import blocks_of_text
from shared.providers.embedded.parsers.web import blocks_of_html

_HEADERS = ("From", "To", "Cc", "Date")
_EXPECTED_HEADERS = ("From", "Subject", "Date", "Received", "Message-ID", "MIME-Version")


def parse_mail(path: Path, report: PageReport) -> Iterator[Block]:
    """Read one message; rejects a file without a single mail header."""
    del report
    message = email.message_from_bytes(read_content(path), policy=email.policy.default)
    if not any(name in message for name in _EXPECTED_HEADERS):
        raise DigestFailed(FailureReason.FILE_UNSUPPORTED, "no mail headers")
    subject = _header(message, "Subject")
    if subject:
        yield heading(subject, 1)
    if envelope := "\n".join(f"{name}: {value}" for name in _HEADERS if (value := _header(message, name))):
        yield paragraph(envelope)
    yield from _body(message)
    if names := [name for part in message.iter_attachments() if (name := part.get_filename())]:
        yield paragraph("Attachments: " + ", ".join(names))


def _header(message: EmailMessage, name: str) -> str:
    try:
        return " ".join(str(message.get(name, "")).split())
    except (MessageError, ValueError, LookupError, IndexError):
        return ""  # A malformed header is not worth the message.


def _body(message: EmailMessage) -> Iterator[Block]:
    part = message.get_body(("plain", "html"))
    if part is None:
        return
    if part.get_content_subtype() != "html":
        yield from blocks_of_text(_part_text(part), has_title=True)
        return
    for block in blocks_of_html(_part_text(part)):
        # The subject is the title: the body's own headings stand below it.
        yield heading(block.text, block.level + 1) if block.is_heading else block


def _part_text(part: MIMEPart) -> str:
    """Mail often names a narrower charset than it uses (gb2312 for gbk), so a failed decoding is done by content."""
    content = part.get_payload(decode=True)
    if not isinstance(content, bytes):
        return ""
    charset = part.get_content_charset() or "utf-8"
    try:
        return content.decode("gb18030" if charset in ("gb2312", "gbk") else charset)
    except (UnicodeDecodeError, LookupError):
        return decode(content)
