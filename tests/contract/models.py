"""Which of our models stands for which of the contract's schemas."""

from collections.abc import Mapping
from typing import Any, Final

from shared.contracts import documents, enums, envelope, errors, metadata, operations, paging, retrieval, spaces, text
from shared.contracts.body import Body

REQUESTS: Final[Mapping[str, type[Body]]] = {
    "ListQuery": paging.ListQuery,
    "CitationContextQuery": retrieval.CitationContextQuery,
    "RetrievalRequest": retrieval.RetrievalRequest,
    "SpaceCreateRequest": spaces.SpaceCreateRequest,
    "SpaceUpdateRequest": spaces.SpaceUpdateRequest,
    "SpaceDeleteRequest": spaces.SpaceDeleteRequest,
    "DocumentUploadRequest": documents.DocumentUploadRequest,
    "DocumentUpdateRequest": documents.DocumentUpdateRequest,
    "DocumentReplaceRequest": documents.DocumentReplaceRequest,
    "DocumentLockRequest": documents.DocumentLockRequest,
    "DocumentDeleteRequest": documents.DocumentDeleteRequest,
    "OperationReasonRequest": operations.OperationReasonRequest,
    "EmptyRequest": documents.EmptyRequest,
    "DocumentMetadata": metadata.DocumentMetadata,
    "DocumentMetadataPatch": metadata.DocumentMetadataPatch,
    "MetadataFilter": metadata.MetadataFilter,
}

ANSWERS: Final[Mapping[str, type[Body]]] = {
    "DocumentMetadataOutput": metadata.DocumentMetadataOutput,
    "Space": spaces.Space,
    "SpaceCreated": spaces.SpaceCreated,
    "SpaceUpdated": spaces.SpaceUpdated,
    "SpaceList": spaces.SpaceList,
    "SpaceOperationAccepted": spaces.SpaceOperationAccepted,
    "VersionSummary": documents.VersionSummary,
    "Document": documents.Document,
    "DocumentList": documents.DocumentList,
    "DocumentOperationAccepted": documents.DocumentOperationAccepted,
    "VersionError": documents.VersionError,
    "VersionDetail": documents.VersionDetail,
    "DocumentDetail": documents.DocumentDetail,
    "RetrievalHit": retrieval.RetrievalHit,
    "RetrievalMatches": retrieval.RetrievalMatches,
    "RetrievalEmpty": retrieval.RetrievalEmpty,
    "CitationSource": retrieval.CitationSource,
    "DownloadLink": retrieval.DownloadLink,
    "Operation": operations.Operation,
    "ManualRetryAccepted": operations.ManualRetryAccepted,
    "Pagination": paging.Pagination,
    "FieldError": errors.FieldError,
    "ApiError": errors.ApiError,
    "SuccessMeta": envelope.SuccessMeta,
    "ListSuccessMeta": envelope.ListSuccessMeta,
    "ErrorMeta": envelope.ErrorMeta,
    "ErrorEnvelope": envelope.ErrorEnvelope,
}

VALUES: Final[Mapping[str, Any]] = {
    "BusinessId": text.BusinessId,
    "Reason": text.Reason,
    "SpaceStatus": enums.SpaceStatus,
    "DocumentStatus": enums.DocumentStatus,
    "VersionStatus": enums.VersionStatus,
    "OperationStatus": enums.OperationStatus,
    "OperationType": enums.OperationType,
    "FailureCode": enums.FailureCode,
    "LocationPrecision": enums.LocationPrecision,
    "ProfileCode": spaces.ProfileCode,
    "MetadataText": metadata.MetadataText,
    "MetadataTag": metadata.MetadataTag,
    "RetrievalResult": retrieval.RetrievalResult,
}
