"""How binary formats begin, and what to call them to a person.

A table of our own and not a library: those know hundreds of formats, but tell neither a DOCX from another ZIP nor text
in its encodings from binary, and that is what an upload has to be asked.
"""

from dataclasses import dataclass

from shared.contracts.content_types import ContentType


@dataclass(frozen=True, slots=True)
class Signature:
    """Bytes at a place that mark a format; `name` goes into sentences such as "its content is ..."."""

    magic: bytes
    name: str
    offset: int = 0

    def marks(self, head: bytes) -> bool:
        """Whether a file that begins with `head` is of this format."""
        return head.startswith(self.magic, self.offset)


PDF_MAGIC = b"%PDF-"
ZIP_MAGICS = (b"PK\x03\x04", b"PK\x05\x06")
OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ENCRYPTED_OFFICE_MARK = "EncryptedPackage".encode("utf-16-le")

WRITTEN_AS_TEXT = (
    Signature(b"{\\rtf", "an RTF document"),
    Signature(b"%!PS", "a PostScript document"),
)
"""Formats that would pass for text."""

BINARY = (
    Signature(b"MZ", "a Windows program"),
    Signature(b"\x7fELF", "a Linux program"),
    Signature(b"\xfe\xed\xfa\xce", "a macOS program"),
    Signature(b"\xfe\xed\xfa\xcf", "a macOS program"),
    Signature(b"\xce\xfa\xed\xfe", "a macOS program"),
    Signature(b"\xcf\xfa\xed\xfe", "a macOS program"),
    Signature(b"\xca\xfe\xba\xbe", "a Java or macOS program"),
    Signature(b"\x00asm", "a WebAssembly program"),
    Signature(b"\x89PNG", "a PNG image"),
    Signature(b"\xff\xd8\xff", "a JPEG image"),
    Signature(b"GIF8", "a GIF image"),
    Signature(b"II*\x00", "a TIFF image"),
    Signature(b"MM\x00*", "a TIFF image"),
    Signature(b"WEBP", "a WebP image", offset=8),
    Signature(b"BM", "a bitmap image"),
    Signature(b"8BPS", "a Photoshop image"),
    Signature(b"\x00\x00\x01\x00", "an icon"),
    Signature(b"ftyp", "a video, or an image from a camera", offset=4),
    Signature(b"\x1a\x45\xdf\xa3", "a video"),
    Signature(b"RIFF", "a sound or a video"),
    Signature(b"OggS", "a sound or a video"),
    Signature(b"fLaC", "a sound"),
    Signature(b"ID3", "a sound"),
    Signature(b"\x1f\x8b", "a GZIP archive"),
    Signature(b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    Signature(b"Rar!\x1a\x07", "a RAR archive"),
    Signature(b"\xfd7zXZ\x00", "an XZ archive"),
    Signature(b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    Signature(b"1AY&SY", "a BZIP2 archive", offset=4),
    Signature(b"ustar", "a TAR archive", offset=257),
    Signature(b"SQLite format 3\x00", "a database"),
)
"""Asked only of what is not text: some of these letters may begin a text too."""

NAMES = {
    ContentType.PDF: "a PDF document",
    ContentType.DOCX: "a Word document",
    ContentType.PPTX: "a PowerPoint presentation",
    ContentType.XLSX: "an Excel workbook",
    ContentType.HTML: "an HTML page",
    ContentType.MARKDOWN: "Markdown",
    ContentType.CSV: "a table in CSV",
    ContentType.TSV: "a table in TSV",
    ContentType.EMAIL: "an e-mail message",
    ContentType.TEXT: "text",
}

BY_EXTENSION = {
    "pdf": ContentType.PDF,
    "docx": ContentType.DOCX,
    "pptx": ContentType.PPTX,
    "xlsx": ContentType.XLSX,
    "html": ContentType.HTML,
    "htm": ContentType.HTML,
    "xhtml": ContentType.HTML,
    "md": ContentType.MARKDOWN,
    "markdown": ContentType.MARKDOWN,
    "csv": ContentType.CSV,
    "tsv": ContentType.TSV,
    "eml": ContentType.EMAIL,
    "txt": ContentType.TEXT,
}
"""What a name claims by its extension; one that is not here claims nothing."""

TEXT_KINDS = frozenset(
    {
        ContentType.HTML,
        ContentType.MARKDOWN,
        ContentType.CSV,
        ContentType.TSV,
        ContentType.EMAIL,
        ContentType.TEXT,
    }
)
"""Kinds that are text: among them the name decides, since the same text may well be any of them."""
