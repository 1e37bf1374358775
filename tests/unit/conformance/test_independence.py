"""The checker shares nothing with the product: only the stage, which starts and turns it, knows it."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2] / "conformance"
STAGE = "stage.py"
OURS = ("services", "shared")


def imported(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    froms = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    return froms | {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}


def test_only_the_stage_imports_the_product() -> None:
    users = {path.name for path in ROOT.rglob("*.py") if any(name.split(".")[0] in OURS for name in imported(path))}

    assert users == {STAGE}


def test_nothing_of_other_tests_is_imported() -> None:
    names = {name for path in ROOT.rglob("*.py") for name in imported(path) if name.split(".")[0] == "tests"}

    assert {name for name in names if not name.startswith("tests.conformance")} == set()
