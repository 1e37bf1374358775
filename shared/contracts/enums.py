"""The closed sets of the product. Every other package takes its enums from here."""

from enum import StrEnum, unique


@unique
class SpaceStatus(StrEnum):
    """Where a knowledge space is in its life."""

    CREATING = "CREATING"
    ACTIVE = "ACTIVE"
    CREATE_FAILED = "CREATE_FAILED"
    DISABLED = "DISABLED"
    DELETING = "DELETING"
    DELETED = "DELETED"
    DELETE_FAILED = "DELETE_FAILED"


@unique
class DocumentStatus(StrEnum):
    """Where a document is in its life; its versions have statuses of their own."""

    CREATING = "CREATING"
    ACTIVE = "ACTIVE"
    CREATE_FAILED = "CREATE_FAILED"
    DISABLED = "DISABLED"
    DELETING = "DELETING"
    DELETED = "DELETED"


@unique
class VersionStatus(StrEnum):
    """How far one version of a document has come."""

    CREATED = "CREATED"
    UPLOADING = "UPLOADING"
    UPLOADED = "UPLOADED"
    INGESTING = "INGESTING"
    READY = "READY"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"
    RETIRED = "RETIRED"
    DELETED = "DELETED"


@unique
class OperationStatus(StrEnum):
    """What the caller of an operation sees of it."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


@unique
class OperationType(StrEnum):
    """What was asked for. Some are answered at once and appear only in the audit."""

    SPACE_CREATE = "SPACE_CREATE"
    SPACE_UPDATE = "SPACE_UPDATE"
    SPACE_DELETE = "SPACE_DELETE"
    DOCUMENT_UPLOAD = "DOCUMENT_UPLOAD"
    DOCUMENT_UPDATE = "DOCUMENT_UPDATE"
    DOCUMENT_REPLACE = "DOCUMENT_REPLACE"
    DOCUMENT_ENABLE = "DOCUMENT_ENABLE"
    DOCUMENT_DISABLE = "DOCUMENT_DISABLE"
    DOCUMENT_REINDEX = "DOCUMENT_REINDEX"
    DOCUMENT_DELETE = "DOCUMENT_DELETE"
    OPERATION_CANCEL = "OPERATION_CANCEL"
    OPERATION_RETRY = "OPERATION_RETRY"


@unique
class ResourceType(StrEnum):
    """What an operation or an audit entry is about."""

    SPACE = "SPACE"
    DOCUMENT = "DOCUMENT"
    VERSION = "VERSION"
    OPERATION = "OPERATION"


@unique
class ChangeType(StrEnum):
    """Why a version came into being."""

    INITIAL_UPLOAD = "INITIAL_UPLOAD"
    REPLACE = "REPLACE"
    REINDEX = "REINDEX"


@unique
class ProgressSource(StrEnum):
    """Where a progress figure comes from; it is never invented."""

    PROVIDER = "PROVIDER"
    TERMINAL_STATE = "TERMINAL_STATE"
    UNAVAILABLE = "UNAVAILABLE"


@unique
class LocationPrecision(StrEnum):
    """Whether a citation's place is exact in the normalised text or only its neighbourhood."""

    EXACT_OFFSET = "EXACT_OFFSET"
    CHUNK_APPROXIMATE = "CHUNK_APPROXIMATE"


@unique
class Step(StrEnum):
    """One kind of command; the value is a subject token and part of every command id."""

    PROVISION = "provision"
    REMOVE = "remove"
    UPLOAD = "upload"
    INGEST = "ingest"
    REINDEX = "reindex"
    CANCEL = "cancel"
    PURGE = "purge"
    PURGE_FILE = "purge-file"


@unique
class EventType(StrEnum):
    """What an event tells; the value is a subject token. `started` and `progressed` are hints."""

    STARTED = "started"
    PROGRESSED = "progressed"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    CANCELLED = "cancelled"
    TOO_LATE = "too-late"
    PURGED = "purged"


@unique
class FailureClass(StrEnum):
    """What to do about a failure: the receiver branches on this and on nothing else."""

    TRANSIENT = "transient"
    THROTTLED = "throttled"
    PERMANENT = "permanent"
    INTERRUPTED = "interrupted"
    CANCELLED = "cancelled"


@unique
class FailureReason(StrEnum):
    """Why a step failed: a stable code that is safe to show. Its class and text stand in `domain.failure`."""

    FILE_ENCRYPTED = "FILE_ENCRYPTED"
    FILE_EMPTY = "FILE_EMPTY"
    FILE_SCANNED = "FILE_SCANNED"
    FILE_UNSUPPORTED = "FILE_UNSUPPORTED"
    FILE_CORRUPT = "FILE_CORRUPT"
    FILE_TOO_LARGE = "FILE_TOO_LARGE"
    FILE_TOO_COMPLEX = "FILE_TOO_COMPLEX"
    FILE_MISSING = "FILE_MISSING"
    NO_TEXT = "NO_TEXT"
    PARSER_CRASHED = "PARSER_CRASHED"
    NOT_VERIFIED = "NOT_VERIFIED"
    PROVIDER_UNAVAILABLE = "PROVIDER_UNAVAILABLE"
    PROVIDER_THROTTLED = "PROVIDER_THROTTLED"
    PROVIDER_REFUSED = "PROVIDER_REFUSED"
    STEP_DEADLINE = "STEP_DEADLINE"
    WORKER_STOPPED = "WORKER_STOPPED"
    WORKER_CRASHED = "WORKER_CRASHED"
    MESSAGE_UNREADABLE = "MESSAGE_UNREADABLE"
    INTERNAL_ERROR = "INTERNAL_ERROR"


@unique
class InterruptReason(StrEnum):
    """Why a command was handed back unfinished: a deploy does not count, a crash does."""

    SHUTDOWN = "shutdown"
    CRASH = "crash"


@unique
class FailureCode(StrEnum):
    """The seven general codes that an operation or a version may carry (contract: FailureCode)."""

    UNAUTHENTICATED = "KNOWLEDGE_UNAUTHENTICATED"
    FORBIDDEN = "KNOWLEDGE_FORBIDDEN"
    NOT_FOUND = "KNOWLEDGE_NOT_FOUND"
    CONFLICT = "KNOWLEDGE_CONFLICT"
    OPERATION_PENDING = "KNOWLEDGE_OPERATION_PENDING"
    PROVIDER_UNAVAILABLE = "KNOWLEDGE_PROVIDER_UNAVAILABLE"
    INVALID_INPUT = "KNOWLEDGE_INVALID_INPUT"


@unique
class PurgeReason(StrEnum):
    """Why something is to be removed from the provider."""

    RETIRED = "retired"
    SUPERSEDED = "superseded"
    CANCELLED = "cancelled"
    DELETED = "deleted"
    LEFTOVER = "leftover"


@unique
class Action(StrEnum):
    """What a caller may be allowed to do: the contract's actions of routes, and those of the admin API (`MANAGE_*`)."""

    SPACE_VIEW = "SPACE_VIEW"
    SPACE_CREATE = "SPACE_CREATE"
    SPACE_UPDATE = "SPACE_UPDATE"
    SPACE_DELETE = "SPACE_DELETE"
    DOCUMENT_VIEW = "DOCUMENT_VIEW"
    DOCUMENT_UPLOAD = "DOCUMENT_UPLOAD"
    DOCUMENT_UPDATE = "DOCUMENT_UPDATE"
    DOCUMENT_REINDEX = "DOCUMENT_REINDEX"
    DOCUMENT_DELETE = "DOCUMENT_DELETE"
    DOCUMENT_DOWNLOAD = "DOCUMENT_DOWNLOAD"
    KNOWLEDGE_SEARCH = "KNOWLEDGE_SEARCH"
    OPERATION_RETRY = "OPERATION_RETRY"
    RESOURCE_VIEW = "RESOURCE_VIEW"
    ORIGINAL_OPERATION_PERMISSION = "ORIGINAL_OPERATION_PERMISSION"
    MANAGE_ACCESS = "MANAGE_ACCESS"
    """Grants, accounts and revocations of the caller's tenant."""
    MANAGE_TOKENS = "MANAGE_TOKENS"
    """Service tokens of the caller's tenant."""
    MANAGE_SPACES = "MANAGE_SPACES"
    """Disable and enable spaces."""


@unique
class PrincipalKind(StrEnum):
    """To whom something can be granted."""

    USER = "user"
    GROUP = "group"
    ROLE = "role"


@unique
class AccountStatus(StrEnum):
    """A DISABLED account may do nothing, whatever its assertions say."""

    ACTIVE = "ACTIVE"
    DISABLED = "DISABLED"


@unique
class RevocationKind(StrEnum):
    """What of a tenant's assertions is revoked: one by the SHA-256 of its signed part, a session's, or a user's."""

    ASSERTION = "assertion"
    SESSION = "session"
    SUBJECT = "subject"


@unique
class FileFault(StrEnum):
    """What is wrong with a file that is refused at the door, as `fieldErrors` name it."""

    EMPTY = "EMPTY"
    TOO_LARGE = "TOO_LARGE"
    TOO_LONG = "TOO_LONG"
    """Of its name."""
    TYPE_NOT_ALLOWED = "TYPE_NOT_ALLOWED"
    TYPE_MISMATCH = "TYPE_MISMATCH"
    """The content is not of the kind that the name claims."""
    ENCRYPTED = "ENCRYPTED"
    DAMAGED = "DAMAGED"
