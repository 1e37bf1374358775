"""Why a caller is not known. The caller is never told; audit and metrics are."""

from enum import StrEnum, unique

from shared.domain.errors import NotFound, Unauthenticated


@unique
class RefusalReason(StrEnum):
    """A stable word for each way that credentials can fail."""

    TOKEN_UNKNOWN = "service_token_unknown"
    TOKEN_OF_OTHER_TENANT = "service_token_of_other_tenant"
    TOKEN_REVOKED = "service_token_revoked"
    TOKEN_EXPIRED = "service_token_expired"
    ASSERTION_MALFORMED = "assertion_malformed"
    ISSUER_UNKNOWN = "assertion_issuer_unknown"
    KEYS_UNAVAILABLE = "assertion_keys_unavailable"
    SIGNATURE_WRONG = "assertion_signature_wrong"
    AUDIENCE_WRONG = "assertion_audience_wrong"
    CLAIMS_WRONG = "assertion_claims_wrong"
    TOO_LONG_LIVED = "assertion_too_long_lived"
    EXPIRED = "assertion_expired"
    NOT_YET_VALID = "assertion_not_yet_valid"
    OTHER_SESSION = "assertion_of_other_session"
    ASSERTION_REVOKED = "assertion_revoked"
    ACCOUNT_DISABLED = "account_disabled"


class AuthenticationRefused(Unauthenticated):
    """Who is calling is not known. Its text is the same for every reason."""

    def __init__(self, reason: RefusalReason) -> None:
        super().__init__()
        self.reason = reason


class SealBroken(NotFound):
    """A sealed value that was not made here, was changed, belongs elsewhere, or whose key is gone."""
