"""The loop of a model: it proposes steps, code performs them, guards them and ends them."""

from agents.workers.model_loop.loop import ModelLoop

__all__ = ["ModelLoop"]
