"""An annotator that proposes the knowledge domain, and nothing else, by nearest prototypes.

A label's prototypes are sentences made from its definition in the catalogue and, for the domains of
the core catalogue, example sentences that ship with benchprism. An item gets the label to which it
is nearest, or none: the annotator abstains when no label is more likely than all others together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ...prompts.catalogue import Attribute, Catalogue
from ...records.documents import StrictModel, parse_document
from .minilm import MiniLM
from .proposals import Proposal

EMBEDDING = "embed:minilm"
ATTRIBUTE = "knowledge_domain"
CONFIDENCE_TO_PROPOSE = 0.5

_TEMPERATURE = 0.04
"""Turns differences of similarity into probabilities; fitted on half of 360 annotated items."""
_NEAREST = 2
"""Prototypes of a label that count: the mean of its nearest two."""
_WITHOUT_CONTENT = {"none", "other"}
"""Labels that mean no domain: nothing can be near them."""


class DomainExamples(StrictModel):
    """The file of example sentences."""

    examples: dict[str, list[str]]
    """Label to sentences."""


def propose_domain(
    items: pa.Table,
    catalogue: Catalogue,
    *,
    model: MiniLM | None = None,
    confidence_to_propose: float = CONFIDENCE_TO_PROPOSE,
) -> Iterator[Proposal]:
    """Propose a knowledge domain for each item that is near enough to one.

    Args:
        items: A table with ``ITEM_SCHEMA``.
        catalogue: The criteria; nothing is proposed when it has no label ``knowledge_domain``.
        model: The encoder; loaded when not given.
        confidence_to_propose: With less, the annotator abstains.

    Raises:
        InputError: the extra ``embed`` is not installed.
    """
    attribute = next((a for a in catalogue if a.id == ATTRIBUTE and a.type == "label"), None)
    if attribute is None:
        return
    encoder = model or MiniLM()
    prototypes = {
        label: encoder.embed(sentences) for label, sentences in label_sentences(attribute).items()
    }
    labels = list(prototypes)
    columns = items.select(["item_id", "content_hash", "kind", "context", "question", "choices"])
    for batch in columns.to_batches(max_chunksize=64):
        for row in batch.to_pylist():
            if not attribute.asks(row["kind"]):
                continue
            text = " ".join([row["context"], row["question"], " ; ".join(row["choices"])]).strip()
            chances = domain_probabilities(encoder.embed([text])[0], [*prototypes.values()])
            best = int(chances.argmax())
            confidence = float(chances[best])
            if confidence >= confidence_to_propose:
                yield Proposal(
                    row["item_id"], row["content_hash"], ATTRIBUTE, labels[best], confidence
                )


def label_sentences(attribute: Attribute) -> dict[str, list[str]]:
    """Prototype sentences for each label that has a content."""
    examples = _examples()
    return {
        str(label): [
            *(f"A question about {topic}." for topic in _topics(str(label), definition)),
            *examples.get(str(label), []),
        ]
        for label, definition in attribute.values.items()
        if label not in _WITHOUT_CONTENT
    }


def domain_probabilities(
    item: npt.NDArray[np.float32], prototypes: Sequence[npt.NDArray[np.float32]]
) -> npt.NDArray[np.float64]:
    """Turn similarities into one probability a label.

    Args:
        item: The item's embedding, of unit length.
        prototypes: For each label, its prototypes' embeddings, of unit length, one a row.
    """
    nearness = np.array(
        [np.sort(rows @ item)[-_NEAREST:].mean() for rows in prototypes], dtype=np.float64
    )
    weights: npt.NDArray[np.float64] = np.exp((nearness - nearness.max()) / _TEMPERATURE)
    return weights / float(weights.sum())


def _topics(label: str, definition: str) -> list[str]:
    return [label.replace("_", " "), *(part.strip() for part in definition.split(",") if part)]


@cache
def _examples() -> dict[str, list[str]]:
    name = "domain_examples.yaml"
    text = files(__name__.rpartition(".")[0]).joinpath(name).read_text(encoding="utf-8")
    return parse_document(text, DomainExamples, name=name).examples
