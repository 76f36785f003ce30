"""maskgrad: a graph-based multi-agent orchestrator with mask gradients."""

from importlib.util import find_spec
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent

# The import names are generic, and another popular project installs a top-level `agents` too. Half of each would run
# and fail far from the cause, so a mixed environment is refused here, once, with the remedy.
for _name in ("masks", "graphs", "agents"):
    _spec = find_spec(_name)
    _origin = _spec.origin if _spec is not None else None
    if _origin is None or Path(_origin).resolve().parent.parent != _ROOT:
        raise ImportError(
            f"the package {_name!r} of maskgrad is hidden by {_origin or 'nothing (it is not installed)'}; "
            "maskgrad is an application and needs an environment of its own: "
            "python -m venv .venv && .venv/bin/pip install maskgrad"
        )
