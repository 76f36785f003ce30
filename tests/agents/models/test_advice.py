"""Whatever keeps a model from answering is told with its next step, in the reader's language."""

from __future__ import annotations

from typing import get_args

import pytest

from agents.models.advice import explained
from agents.models.contract import ModelError, ModelErrorCause, ModelErrorType
from graphs.contract import Lang


def error(kind: ModelErrorType, cause: ModelErrorCause | None = None) -> ModelError:
    return ModelError(error_type=kind, message="oops", retryable=False, cause=cause, address="http://h/v1")


@pytest.mark.parametrize(("lang", "mark"), [("en", ". Next: "), ("zh", "。下一步：")])
def test_every_failure_ends_with_a_next_step(lang: Lang, mark: str) -> None:
    found = [error(kind) for kind in get_args(ModelErrorType)]
    found += [error("misconfigured", cause) for cause in get_args(ModelErrorCause)]
    for one in found:
        said = explained(one, model="openai:toy", lang=lang)
        _, _, step = said.partition(mark)
        assert said.startswith("openai:toy")
        assert len(step) > 15, said
        assert "{" not in said


@pytest.mark.parametrize(("lang", "waited"), [("en", "given up after 3 s"), ("zh", "3 秒后放弃")])
def test_a_time_out_says_how_long_it_took_and_what_lets_a_call_be_longer(lang: Lang, waited: str) -> None:
    said = explained(error("timeout"), model="openai:toy", lang=lang, elapsed_ms=3_040.0)
    assert waited in said
    assert "MASKGRAD_MODEL_TIMEOUT=600" in said
    assert waited not in explained(error("timeout"), model="openai:toy", lang=lang)
    assert waited not in explained(error("unavailable"), model="openai:toy", lang=lang, elapsed_ms=3_040.0)


def test_what_a_provider_limits_names_the_provider_of_the_model() -> None:
    said = explained(error("rate_limited"), model="anthropic:x", lang="en")
    assert "MASKGRAD_RATE_LIMITS=anthropic=30rpm" in said
