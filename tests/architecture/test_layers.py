"""Who may import whom, and what no file of the product is called (architecture 2 and 3)."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from importlinter.application import use_cases
from importlinter.configuration import configure

ROOT = Path(__file__).parents[2]
PACKAGES = ("masks", "graphs", "agents", "orchestrator")
HOMELESS = {"utils", "util", "helpers", "helper", "common", "misc"}
"""Names of files that have no concept of their own."""


def modules() -> Iterator[Path]:
    for package in PACKAGES:
        yield from sorted((ROOT / package).rglob("*.py"))


def is_public(module: Path) -> bool:
    parts = module.relative_to(ROOT).with_suffix("").parts
    return not any(part.startswith("_") for part in parts)


def test_the_import_contracts_hold(capsys: pytest.CaptureFixture[str]) -> None:
    configure()
    before = Path.cwd()
    os.chdir(ROOT)
    try:
        kept = use_cases.lint_imports(config_filename=str(ROOT / "pyproject.toml"), cache_dir=None)
    finally:
        os.chdir(before)
    assert kept, capsys.readouterr().out


def test_there_is_something_to_check() -> None:
    assert len(list(modules())) > 50


def test_every_file_has_a_concept() -> None:
    homeless = [
        str(module.relative_to(ROOT))
        for module in modules()
        if module.stem.lower() in HOMELESS or module.stem.lower().endswith("manager")
    ]
    assert homeless == []


def test_importing_agents_imports_nothing_else() -> None:
    assert (ROOT / "agents" / "__init__.py").read_text(encoding="utf-8") == ""


def test_every_public_module_says_what_it_is_for() -> None:
    silent = [
        str(module.relative_to(ROOT))
        for module in modules()
        if is_public(module) and not ast.get_docstring(ast.parse(module.read_text(encoding="utf-8")))
    ]
    assert silent == []


def test_packages_only_gather_names() -> None:
    """An `__init__.py` holds imports and `__all__`; the guard of `orchestrator` is the one exception."""
    wrong = []
    for module in modules():
        if module.name != "__init__.py" or module.parent == ROOT / "orchestrator":
            continue
        for statement in ast.parse(module.read_text(encoding="utf-8")).body:
            gathers = isinstance(statement, ast.Import | ast.ImportFrom | ast.Expr)
            exports = isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__"
            if not gathers and not exports:
                wrong.append(str(module.relative_to(ROOT)))
    assert wrong == []


def test_own_modules_are_imported_at_the_top() -> None:
    """An import inside a function hides a cycle. Only the command line is lazy, so that its help is instant."""
    hidden = []
    for module in modules():
        if module.is_relative_to(ROOT / "orchestrator" / "interfaces" / "cli"):
            continue
        tree = ast.parse(module.read_text(encoding="utf-8"))
        for scope in ast.walk(tree):
            if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
                hidden += [
                    f"{module.relative_to(ROOT)}:{statement.lineno}"
                    for statement in ast.walk(scope)
                    if isinstance(statement, ast.ImportFrom)
                    and (statement.module or "").split(".")[0] in PACKAGES
                ]
    assert hidden == []
