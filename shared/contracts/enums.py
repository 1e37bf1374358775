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
    ENDED_BY_OPERATOR = "ENDED_BY_OPERATOR"


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
    MANAGE_OPERATIONS = "MANAGE_OPERATIONS"
    """See all unfinished work of the caller's tenant, end it, settle its dead letters, reconcile it."""
    MANAGE_SYSTEM = "MANAGE_SYSTEM"
    """Beside `MANAGE_OPERATIONS`: dead letters that are nobody's, and reconciliations of all tenants."""
    VIEW_AUDIT = "VIEW_AUDIT"
    """Read the audit of the caller's tenant."""


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


@unique
class UnfinishedReason(StrEnum):
    """Why an operation that has not ended has not: what an operator is told, and what there is to be done about it."""

    WORKING = "WORKING"
    """A live worker has it in hand."""
    WAITING = "WAITING"
    """For the time of its retry, or for other work: a delete waits for its purges."""
    STARVED = "STARVED"
    """It is due, and the workers are busy with other work."""
    NO_WORKER = "NO_WORKER"
    """It is due, and no live worker takes its step."""
    STUCK = "STUCK"
    """It is out, and no live worker has it; or an event of it is a dead letter."""


@unique
class LetterKind(StrEnum):
    """What a dead letter is."""

    EVENT = "event"
    """It could not be read or applied; its operation is stuck until an operator decides."""
    COMMAND = "command"
    """No worker could read it; it was answered as failed, as far as its headers told whose it was."""


@unique
class LetterStatus(StrEnum):
    """What has become of a dead letter."""

    OPEN = "OPEN"
    REPLAYING = "REPLAYING"
    """An operator has asked for it to be applied again; the projector does that at its next turn."""
    REPLAYED = "REPLAYED"
    DISCARDED = "DISCARDED"


@unique
class ReconciliationStatus(StrEnum):
    """How far a comparison of what we know with what provider and object store hold has come."""

    REQUESTED = "REQUESTED"
    RUNNING = "RUNNING"
    DONE = "DONE"
    FAILED = "FAILED"


@unique
class FindingKind(StrEnum):
    """What a reconciliation finds."""

    OVERDUE_OPERATION = "OVERDUE_OPERATION"
    UNKNOWN_PROVIDER_DOCUMENT = "UNKNOWN_PROVIDER_DOCUMENT"
    """The provider holds a document that bears our kind of name and that nothing of ours needs."""
    FOREIGN_PROVIDER_DOCUMENT = "FOREIGN_PROVIDER_DOCUMENT"
    """The provider holds a document that does not bear our kind of name. It is reported and never touched."""
    MISSING_PROVIDER_DOCUMENT = "MISSING_PROVIDER_DOCUMENT"
    """An active version's document is not at the provider, or is not done there any more."""
    UNNEEDED_FILE = "UNNEEDED_FILE"
    """A stored file that no version and no unexpired resource names."""
    MISSING_OBJECT = "MISSING_OBJECT"
    """A file that is needed, and the object store has no object of it."""
    UNKNOWN_OBJECT = "UNKNOWN_OBJECT"
    """The object store holds an object older than a day that nothing of ours names."""


@unique
class FindingOutcome(StrEnum):
    """What was done about a finding."""

    REPORTED = "REPORTED"
    """Nothing: it was a dry run, or only a person can decide."""
    REPAIRED = "REPAIRED"
    """What repairs it was ordered: a purge, a reindexing, a deletion."""
    CHANGED = "CHANGED"
    """Nothing: it was not so any more when it was to be repaired."""
    FAILED = "FAILED"
    """The repair failed; the next reconciliation tries again."""
