"""Requests made of a command's arguments."""

from typing import TypeVar

import typer
from pydantic import ValidationError

from shared.contracts.body import Body
from shared.contracts.reading import field_errors_of

Model = TypeVar("Model", bound=Body)


def request_of(model: type[Model], **values: object) -> Model:
    """What the arguments ask for; a wrong use of the command when one of them cannot be sent."""
    try:
        return model.model_validate(values, by_alias=False, by_name=True)
    except ValidationError as error:
        faults = [f"{fault.field.removeprefix('$.')}: {fault.message}" for fault in field_errors_of(error)]
        raise typer.BadParameter("; ".join(faults).replace("_", " ")) from None
