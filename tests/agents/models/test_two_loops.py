"""A chat model is asked under one event loop and then under another, as a planner's and a run's; the server keeps
connections alive.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from typing import Any

import pytest

from agents.models.contract import FinalAnswer, Message, ModelRequest
from agents.models.providers import PROVIDERS, open_chat

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

OPENAI = {
    "id": "c1",
    "object": "chat.completion",
    "created": 1,
    "model": "toy",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "fine"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4},
}
ANSWERS: dict[str, Any] = {
    "openai": OPENAI,
    "deepseek": OPENAI,
    "anthropic": {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "toy",
        "content": [{"type": "text", "text": "fine"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 3, "output_tokens": 1},
    },
    "google_genai": {
        "candidates": [
            {"content": {"role": "model", "parts": [{"text": "fine"}]}, "finishReason": "STOP", "index": 0}
        ],
        "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 1, "totalTokenCount": 4},
    },
    "ollama": {
        "model": "toy",
        "created_at": "2026-01-01T00:00:00Z",
        "message": {"role": "assistant", "content": "fine"},
        "done": True,
        "done_reason": "stop",
    },
}


@contextmanager
def keeping_server(answer: Any) -> Iterator[tuple[str, list[int]]]:
    """Serve `answer` over connections that stay open; yields the address and how many requests each one carried."""
    carried: list[int] = []
    body = json.dumps(answer).encode() + b"\n"

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            self.place = len(carried)
            carried.append(0)

        def do_POST(self) -> None:
            length = self.headers.get("Content-Length")
            if length is None:
                while self.rfile.readline().strip() not in (b"0", b""):
                    pass
            else:
                self.rfile.read(int(length))
            carried[self.place] += 1
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *told: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", carried
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("provider", sorted(PROVIDERS))
def test_a_model_is_asked_under_one_loop_after_another(provider: str) -> None:
    if find_spec(PROVIDERS[provider].module) is None:
        pytest.skip(f"the package of {provider} is not installed")
    request = ModelRequest(purpose="work", messages=(Message(role="user", content="go"),))
    with keeping_server(ANSWERS[provider]) as (url, carried):
        # Another object, as after a change of the model policy: LangChain's clients share their connections.
        first, second = (
            open_chat(f"{provider}:toy", environ={"MASKGRAD_API_KEY": "k"}, base_url=url) for _ in range(2)
        )
        outcomes = [asyncio.run(chat.complete(request)).outcome for chat in (first, second, first)]
    assert outcomes == [FinalAnswer(text="fine")] * 3, outcomes
    assert carried == [1, 1, 1]
