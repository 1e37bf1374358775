"""Renders deploy/.env.example: every setting of every package, with its default and what its docstring says."""

import ast
import inspect
import json
import textwrap
from collections.abc import Mapping
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = ROOT / "deploy" / ".env.example"
WIDTH = 118

HEAD = """\
# Every setting of every process, with its default. A line without "#" has no default and must be set.
# Durations are seconds or ISO 8601 (PT30S); lists and tables are JSON. This file is made from the code.
"""


def settings_classes() -> list[type[BaseSettings]]:
    """Every settings model of the product, in the order of its modules."""
    paths = sorted((*ROOT.glob("shared/**/settings.py"), *ROOT.glob("services/**/settings.py")))
    modules = [import_module(".".join(path.relative_to(ROOT).with_suffix("").parts)) for path in paths]
    return [
        member
        for module in modules
        for member in vars(module).values()
        if inspect.isclass(member) and issubclass(member, BaseSettings) and member.__module__ == module.__name__
    ]


def render_environment() -> str:
    """The text of the file."""
    return HEAD + "".join(f"\n{_section(settings)}" for settings in settings_classes())


def _section(settings: type[BaseSettings]) -> str:
    module = settings.__module__.rpartition(".")[0].replace(".", "/")
    said = _attribute_docstrings(settings)
    lines = [f"# --- {module} ".ljust(WIDTH, "-")]
    for name, field in settings.model_fields.items():
        lines += textwrap.wrap(said.get(name, ""), WIDTH - 2, initial_indent="# ", subsequent_indent="# ")
        lines.append(_line(f"{settings.model_config.get('env_prefix', '')}{name}".upper(), field))
    return "\n".join(lines) + "\n"


def _line(name: str, field: FieldInfo) -> str:
    if field.is_required():
        return f"{name}="
    return f"# {name}={_shown(field.get_default(call_default_factory=True))}"


def _shown(value: Any) -> str:
    """A default as it would be written in the environment."""
    if value is None:
        return ""
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, timedelta):
        seconds = value.total_seconds()
        return str(int(seconds) if seconds.is_integer() else seconds)
    if isinstance(value, str | int | float | Path) and not isinstance(value, bool):
        return str(value)
    return json.dumps(_sorted(value), ensure_ascii=False)


def _sorted(value: Any) -> Any:
    """JSON values in an order that is always the same."""
    if isinstance(value, Mapping):
        return {key: _sorted(item) for key, item in value.items()}
    if isinstance(value, frozenset | set):
        return sorted(value)
    return value


def _attribute_docstrings(settings: type[BaseSettings]) -> dict[str, str]:
    """What stands in quotes below each field."""
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(settings))).body
    assert isinstance(body, ast.ClassDef)
    said = {}
    for field, below in zip(body.body, body.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            said[ast.unparse(field.target)] = " ".join(str(below.value.value).split())
    return said
