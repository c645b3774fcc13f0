"""How people's review is judged: ``review`` in the project file."""

from __future__ import annotations

from pydantic import Field

from ...records.documents import StrictModel


class GateSettings(StrictModel):
    """What an attribute has to reach to be usable as a hard criterion (``review calibrate``)."""

    alpha: float = Field(default=0.667, ge=0, le=1)
    """Krippendorff's alpha between people and the attribute's values, at least. 0.667 is his lowest
    limit for tentative conclusions, 0.8 that for firm ones."""
    alpha_low: float = Field(default=0.5, ge=-1, le=1)
    """The lower end of alpha's interval, at least."""
    min_items: int = Field(default=30, ge=2)
    """Items that people and annotators both gave a value, at least."""


class ReviewSettings(StrictModel):
    """What is set for the review."""

    gate: GateSettings = GateSettings()
    """When an attribute is usable as a hard criterion."""
