"""Text as the agents' client measures it: JavaScript white space and trim, NFC, lengths in code points."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeVar

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError
from pydantic_core.core_schema import no_info_after_validator_function, str_schema

T = TypeVar("T")

JS_WHITESPACE: Final = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What ``\\s`` and ``trim`` mean in JavaScript: with U+FEFF, without U+0085 and U+001C to U+001F."""

_WHITESPACE: Final = re.compile(f"[{JS_WHITESPACE}]")
_CONTROL: Final = re.compile("[\u0000-\u001f\u007f-\u009f]")


def js_trim(text: str) -> str:
    """Trim as JavaScript does."""
    return text.strip(JS_WHITESPACE)


def normalise_text(text: str) -> str:
    """NFC, then trimmed; the case is kept."""
    return js_trim(unicodedata.normalize("NFC", text))


def has_whitespace(text: str) -> bool:
    """Whether any character is white space to JavaScript."""
    return _WHITESPACE.search(text) is not None


def has_control_character(text: str) -> bool:
    """Whether any character is of the Unicode category Cc."""
    return _CONTROL.search(text) is not None


def has_lone_surrogate(text: str) -> bool:
    """Whether the text cannot be written as UTF-8."""
    return any("\ud800" <= character <= "\udfff" for character in text)


@dataclass(frozen=True, slots=True)
class Text:
    """``Annotated[str, Text(1, 128)]``: text that a caller sends and we keep; `solid` text has no white space.

    U+0000 is refused although the contract's schemas allow it: PostgreSQL cannot keep it.
    """

    min_length: int
    max_length: int
    solid: bool = False

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        text = str_schema(strict=True, min_length=self.min_length, max_length=self.max_length)
        return no_info_after_validator_function(self._check, text)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        written = handler(schema)
        return written | {"pattern": r"^[^\s]+$"} if self.solid else written

    def _check(self, text: str) -> str:
        if "\0" in text:
            raise PydanticCustomError("text_nul", "Text must not contain the character U+0000")
        if self.solid and has_whitespace(text):
            raise PydanticCustomError("text_whitespace", "Text must not contain white space")
        return text


SHA256_HEX: Final = "^[0-9a-f]{64}$"
"""The pattern of a SHA-256 in hexadecimal digits."""

ID: Final = Text(1, 256, solid=True)
FILE_RESOURCE_ID: Final = Text(1, 128, solid=True)

Id = Annotated[T, ID]
"""``Id[SpaceId]``: an identifier of the given NewType, 1 to 256 code points without white space."""

BusinessId = Annotated[str, ID]
Code = Annotated[str, Text(1, 64, solid=True)]
SecurityDomainCode = Annotated[str, Text(1, 100, solid=True)]
Reason = Annotated[str, Text(1, 1024)]
SpaceName = Annotated[str, Text(1, 128)]
SpaceDescription = Annotated[str, Text(0, 1000)]
DocumentName = Annotated[str, Text(1, 255)]
FileName = Annotated[str, Text(1, 255)]
MimeType = Annotated[str, Text(1, 128)]
Query = Annotated[str, Text(1, 4096)]
