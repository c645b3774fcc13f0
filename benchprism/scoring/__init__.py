"""Scoring: what a project's results, or an accuracy table, say about its benchmarks."""

from __future__ import annotations

from benchprism.scoring.benchmarks import score_project, score_results
from benchprism.scoring.null import null_placings
from benchprism.scoring.results import ProjectResults, Scope, project_results
from benchprism.scoring.subsets import SubsetResults, held_out_families, subset_results
from benchprism.scoring.tables import score_accuracy

__all__ = [
    "ProjectResults",
    "Scope",
    "SubsetResults",
    "held_out_families",
    "null_placings",
    "project_results",
    "score_accuracy",
    "score_project",
    "score_results",
    "subset_results",
]
