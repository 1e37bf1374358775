"""All tables together."""

from sqlalchemy import MetaData
from sqlmodel import SQLModel

from shared.database.tables import access, files, knowledge, pipeline

ROOMS = (access, files, knowledge, pipeline)
"""Every module that declares tables: importing them is what declares these."""


def metadata() -> MetaData:
    """The tables of this release."""
    return SQLModel.metadata
