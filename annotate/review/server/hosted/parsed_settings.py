"""Argilla 2.8 builds a pydantic adapter anew for each suggestion and each metadata value it checks.

That is most of the time of a large push. Building the two adapters once changes nothing else.
"""

from __future__ import annotations

from typing import Any

from argilla_server.models import MetadataProperty, Question
from argilla_server.models.database import MetadataPropertySettings, QuestionSettings
from pydantic import TypeAdapter

_QUESTION: Any = TypeAdapter(QuestionSettings)
_METADATA: Any = TypeAdapter(MetadataPropertySettings)


def build_adapters_once() -> None:
    """Let questions and metadata properties share one adapter each."""
    Question.parsed_settings = property(lambda self: _QUESTION.validate_python(self.settings))
    MetadataProperty.parsed_settings = property(
        lambda self: _METADATA.validate_python(self.settings)
    )
