"""The project folder: where a project's items, ledger, results, criteria and subsets lie."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator

from benchprism.annotate.cluster.vllm_settings import VllmSettings
from benchprism.annotate.consolidation.policy import ConsolidationSettings
from benchprism.annotate.money.prices import Price
from benchprism.annotate.review.settings import ReviewSettings
from benchprism.records.documents import StrictModel, read_document
from benchprism.records.errors import InputError

PROJECT_FILE = "benchprism.yaml"


class AnnotatorSettings(StrictModel):
    """One LLM annotator: a model behind an OpenAI-compatible endpoint."""

    model: str
    """The model's name at the endpoint."""
    base_url: str | None = None
    """The endpoint; ``OPENAI_BASE_URL`` or the openai library's default when not given."""
    api_key_env: str = "OPENAI_API_KEY"
    """The environment variable (or line in .env) that holds the key; never the key itself."""
    temperature: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Sent only when given."""
    seed: int | None = None
    """Sent only when given."""
    logprobs: bool = False
    """Whether to ask for the probabilities of tokens, which become confidences."""
    rung: Literal["decisions", "json_schema", "json_object", "tool", "text"] | None = None
    """The only way in which replies are to get their structure: typed questions, a schema, any JSON
    object, a function call, or free text. Found out with the first items when not given."""
    max_output_tokens: int = Field(default=2000, gt=0)
    """A reply that needs more is ``truncated``."""
    max_prompt_characters: int = Field(default=200_000, gt=0)
    """A longer request is not sent: the item is ``too_long``."""
    concurrency: int = Field(default=8, gt=0, le=1000)
    """Requests in flight at once."""
    timeout: float = Field(default=120.0, gt=0, allow_inf_nan=False)
    """Seconds that a request may take before it is given up and tried again."""
    patience: float = Field(default=1800.0, ge=0, allow_inf_nan=False)
    """Seconds that the endpoint may answer nobody before the run ends."""
    repeats: int = Field(default=1, ge=1, le=100)
    """How often every item is annotated; each pass is an annotator of its own: ``llm:main#2``."""
    prompt: str | None = None
    """A folder with templates of your own, ``system.jinja`` or ``rubric.jinja``, seen from the
    project folder; the shipped prompt when not given."""
    may_abstain: bool = False
    """Whether the model may leave an attribute without a value; that is no failure."""
    ask: Literal["all", "dimension"] = "all"
    """What one call asks: ``all`` attributes of an item, or one ``dimension`` after the other."""
    items_per_call: int = Field(default=1, ge=1, le=100)
    """How many items share a call; ``annotate --dry-run`` shows what that saves."""
    vllm: VllmSettings | None = None
    """How a Ray cluster serves the model itself (``annotate --ray``), in place of an endpoint."""


class ProjectSettings(StrictModel):
    """``benchprism.yaml``."""

    project: str
    """The project's name."""
    catalogue: str = "core"
    """``core`` for the shipped catalogue, or the path of a catalogue file."""
    annotators: dict[str, AnnotatorSettings] = {}
    """The annotators, by a name of the user's own."""
    prices: dict[str, Price] = {}
    """What a million tokens of a model cost, by the model's name, in any one currency."""
    confirm_above: float = Field(default=1.0, ge=0)
    """An annotation that may cost more is confirmed first."""
    budget: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """The most that the ledger's replies may cost in all; ``--budget`` may only lower it."""
    consolidation: ConsolidationSettings = ConsolidationSettings()
    """How one value is made of what several annotators gave."""
    review: ReviewSettings = ReviewSettings()
    """How what people say is judged."""
    models: str = "models.yaml"
    """The models file: family and size of each model."""
    domains: dict[str, str] = {}
    """The domain of a benchmark, where it is not the preset's own: CBRC compares within it."""
    seed: int = 0
    """Seed of bootstrap and sampling, unless a command is given another."""

    @field_validator("annotators")
    @classmethod
    def _names_leave_room_for_passes(
        cls, annotators: dict[str, AnnotatorSettings]
    ) -> dict[str, AnnotatorSettings]:
        for name in annotators:
            if "#" in name:
                raise ValueError(f"names without '#', which numbers passes; {name!r} has one")
        return annotators


@dataclass(frozen=True, slots=True)
class Project:
    """A project folder and its settings."""

    root: Path
    settings: ProjectSettings

    @property
    def items(self) -> Path:
        """Folder of the items tables, one Parquet file a benchmark."""
        return self.root / "items"

    @property
    def ledger(self) -> Path:
        """The ledger of annotations."""
        return self.root / "ledger.sqlite"

    @property
    def results(self) -> Path:
        """Folder of the results tables."""
        return self.root / "results"

    @property
    def models(self) -> Path:
        """The models file."""
        return self.root / self.settings.models

    @property
    def review(self) -> Path:
        """Folder of what the review keeps."""
        return self.root / "review"

    @property
    def subsets(self) -> Path:
        """Folder of the composed subsets."""
        return self.root / "subsets"

    @property
    def reports(self) -> Path:
        """Folder of the reports."""
        return self.root / "reports"


def find_project(start: Path) -> Project:
    """Open the project in ``start`` or the nearest folder above it.

    Raises:
        InputError: there is no project file, or it does not fit ``ProjectSettings``.
    """
    for folder in (start.resolve(), *start.resolve().parents):
        if (folder / PROJECT_FILE).is_file():
            return Project(folder, read_document(folder / PROJECT_FILE, ProjectSettings))
    raise InputError(
        f"no {PROJECT_FILE} in {start.resolve()} or above it",
        wanted="a project folder",
        mend="run 'benchprism init DIR' and work in DIR, or name one with --project",
    )
