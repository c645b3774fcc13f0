"""What llama.cpp's server offers beside the OpenAI protocol: templates, tokens, probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...prompts.messages import Message
from ...records.errors import EndpointError
from ..ledger.outcome import Usage

if TYPE_CHECKING:
    import aiohttp

_BIAS = 100.0
"""Added to the logit of each allowed token: e^100 leaves nothing to the others."""
_SMALLEST = 1e-38
"""What 32-bit numbers call 0 is less than this."""


class PromptTooLongError(Exception):
    """A prompt does not fit the server's context."""


@dataclass(frozen=True, slots=True)
class Chances:
    """How likely some tokens are as the next one."""

    log_probabilities: dict[int, float]
    usage: Usage


class LlamaCpp:
    """A llama.cpp server, reached through an open session."""

    def __init__(self, session: aiohttp.ClientSession, base_url: str) -> None:
        """Take the OpenAI-compatible address; the server's own endpoints stand beside ``/v1``."""
        self._session = session
        self._root = base_url.rstrip("/").removesuffix("/v1")

    async def rendered(self, messages: list[Message]) -> str:
        """Messages as the model's chat template writes them, up to where its reply begins."""
        answer = await self._post("/apply-template", {"messages": messages})
        return str(answer["prompt"])

    async def tokens(self, text: str) -> list[int]:
        """The tokens of a text that continues another."""
        answer = await self._post("/tokenize", {"content": text, "add_special": False})
        return [int(token) for token in answer["tokens"]]

    async def choice(self, prompt: str, path: Sequence[int], choices: Sequence[int]) -> Chances:
        """Log-probability of each choice as the next token, given that it is one of them.

        Args:
            prompt: Rendered messages; the server keeps the evaluated prefix of the last one.
            path: Tokens that follow the prompt.
            choices: The tokens that may come next.

        Raises:
            PromptTooLongError: prompt and path do not fit the context.
        """
        request = {
            "prompt": [prompt, *path],
            "n_predict": 1,
            "n_probs": len(choices),
            "post_sampling_probs": True,
            "logit_bias": [[token, _BIAS] for token in choices],
            "samplers": ["temperature"],
            "temperature": 1.0,
            "cache_prompt": True,
            "seed": 0,
        }
        answer = await self._post("/completion", request)
        given = answer["completion_probabilities"][0]["top_probs"]
        chances = {int(entry["id"]): float(entry["prob"]) for entry in given}
        logs = {token: math.log(max(chances.get(token, 0.0), _SMALLEST)) for token in choices}
        return Chances(logs, _usage(answer))

    async def _post(self, path: str, body: dict[str, Any]) -> Any:
        import aiohttp

        try:
            async with self._session.post(f"{self._root}{path}", json=body) as response:
                if response.status == 200:
                    return await response.json()
                text = await response.text()
                if "exceed_context_size" in text:
                    raise PromptTooLongError(text)
                found = f"status {response.status}: {text[:200]!r}"
        except (aiohttp.ClientError, TimeoutError) as error:
            found = repr(error)
        raise EndpointError(
            f"{self._root}{path} gave {found}",
            wanted="llama.cpp's server",
            mend="serve the model with llama.cpp, or annotate without scoring",
        )


def _usage(answer: dict[str, Any]) -> Usage:
    cached = answer.get("timings", {}).get("cache_n")
    return Usage(answer.get("tokens_evaluated"), cached, answer.get("tokens_predicted"))
