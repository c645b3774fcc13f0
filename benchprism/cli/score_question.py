"""What ``benchprism score`` asks of a project: reading it, and answering."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from benchprism.cli.gather import project_attribute_table
from benchprism.cli.output import counted, print_json, say
from benchprism.project import Project
from benchprism.records.errors import InputError
from benchprism.records.results.matrix import Outcomes
from benchprism.scoring import (
    ProjectResults,
    Scope,
    SubsetResults,
    held_out_families,
    null_placings,
    project_results,
    score_results,
    subset_results,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from benchprism.cli.score_options import Over
    from benchprism.metrics.scorecard import ScoreSettings
    from benchprism.scoring.item_numbers import ItemModel


@dataclass(frozen=True)
class Question:
    """A question about the results of a project, or about those on a subset's items."""

    project: Project
    subset: str | None
    scope: Scope
    held_out: bool
    settings: ScoreSettings
    as_json: bool

    @cached_property
    def results(self) -> ProjectResults:
        """The results in question."""
        results = project_results(self.project, self.scope)
        if not self.held_out:
            return results
        if self.subset is None:
            raise InputError(
                "--held-out without a subset",
                wanted="a subset whose items were chosen by scores",
                mend="name one, as in 'benchprism score NAME --held-out'",
            )
        families = held_out_families(self.project, self.subset, results)
        say(f"Judged by the families that were held out: {', '.join(families)}.")
        return results.of_families(families)

    @cached_property
    def chosen(self) -> SubsetResults | None:
        """Those on the subset's items; none without a subset."""
        if self.subset is None:
            return None
        return subset_results(self.project, self.subset, self.results)

    @property
    def outcomes(self) -> tuple[Outcomes, ...]:
        """The outcomes in question."""
        return self.results.outcomes if self.chosen is None else self.chosen.parts

    @property
    def threads(self) -> int:
        """How many threads may work at once."""
        return os.cpu_count() or 1

    def attribute_table(self) -> pa.Table:
        """The items in question with their attributes."""
        return project_attribute_table(
            self.project, [item for given in self.outcomes for item in given.item_ids]
        )

    def scorecard(self, over: Over, null: int) -> None:
        """Score benchmarks, or a subset, and print the scorecard."""
        from benchprism.cli.score_card import print_scorecards, score_twice

        if null and self.chosen is None:
            raise InputError(
                "--null without a subset",
                wanted="a subset to compare with random ones",
                mend="name one, as in 'benchprism score NAME --null 200'",
            )
        cards = score_twice(
            self.settings,
            lambda settings: score_results(
                self.results, self.chosen, settings=settings, threads=self.threads
            ),
        )
        placings = None
        if null and self.chosen is not None:
            placings = null_placings(
                self.results, self.chosen, cards.card, subsets=null, threads=self.threads
            )
        print_scorecards(cards, over, self.as_json, placings, null)

    def judge(self, subsets: int) -> None:
        """Judge a subset, print the judgement and keep it beside the subset."""
        from benchprism.cli.judgement import print_judgement
        from benchprism.scoring.judgement_record import write_judgement
        from benchprism.scoring.judging import SUBSETS, judge

        if self.subset is None:
            raise InputError(
                "--judge without a subset",
                wanted="a subset to judge",
                mend="name one, as in 'benchprism score NAME --judge'",
            )
        fixed = {"--epsilon noise": self.settings.epsilon, "--lambda adaptive": self.settings.decay}
        refused = {option: isinstance(value, str) for option, value in fixed.items()}
        refused["--held-out"] = self.held_out
        for option in (option for option, given in refused.items() if given):
            raise InputError(
                f"{option} together with --judge",
                wanted="numbers for epsilon and lambda; held-out families judge by themselves",
                mend=f"leave out {option}",
            )
        found = judge(
            self.project,
            self.subset,
            self.results,
            settings=self.settings,
            subsets=subsets or SUBSETS,
            threads=self.threads,
        )
        print_judgement(found, as_json=self.as_json)
        if self.scope.benchmarks or self.scope.families:
            say("Not kept: it is of a part of the results.")
        else:
            say(f"Kept in {os.path.relpath(write_judgement(found))}.")

    def compare(self, first: str, second: str) -> None:
        """Compare two models and print how they differ."""
        from benchprism.cli.score_compare import plain, show
        from benchprism.scoring.comparison import ALL_ITEMS, compare_in_project

        found = compare_in_project(
            self.results,
            first,
            second,
            outcomes=self.outcomes,
            name=self.subset or ALL_ITEMS,
            replicates=self.settings.replicates,
            seed=self.settings.seed,
        )
        if self.as_json:
            print_json(plain(found, first, second, self.settings))
        else:
            show(found, first, second, self.settings)

    def by(self, attribute: str) -> None:
        """Print where models stand for each value of an attribute."""
        from benchprism.cli.score_by import plain, show
        from benchprism.scoring.by_attribute import standings_by

        found = standings_by(
            self.results,
            self.outcomes,
            self.attribute_table(),
            attribute,
            replicates=self.settings.replicates,
            seed=self.settings.seed,
        )
        if self.as_json:
            print_json(plain(found, self.settings))
        else:
            show(found, self.settings)

    def items(self, response: ItemModel | None, out: Path | None) -> None:
        """Print the statistics of the items, or write them to a file."""
        from benchprism.cli.score_items import show, write
        from benchprism.scoring.item_numbers import (
            ENOUGH_MODELS,
            item_numbers,
            not_fitted,
            rough_slopes,
        )

        for given in self.outcomes if response is not None else ():
            reason = not_fitted(given.scores)
            if reason:
                say(f"{given.benchmark}: item response undefined because {reason}")
        table = item_numbers(self.results, self.outcomes, response=response)
        if out is not None:
            write(table, out)
            return
        if self.as_json:
            print_json(table.to_pylist())
        else:
            show(table, response)
            for benchmark, models in rough_slopes(self.outcomes, response).items():
                say(
                    f"{benchmark}: {counted(models, 'model')}: discriminations of the item response"
                    " model are not identified well by fewer than about"
                    f" {ENOUGH_MODELS}; mind their errors"
                )

    def demands(self, attributes: Sequence[str]) -> None:
        """Print abilities in what attributes demand, and how much difficulty these explain."""
        from benchprism.cli.score_demands import plain, show
        from benchprism.scoring.demanded import demanded_abilities

        found = demanded_abilities(
            self.results,
            self.outcomes,
            self.attribute_table(),
            attributes,
            replicates=self.settings.replicates,
            seed=self.settings.seed,
        )
        if self.as_json:
            print_json(plain(found, self.settings))
        else:
            show(found)

    def share(self) -> None:
        """Print what keeping each share of the items would give."""
        from benchprism.cli.score_share import plain, show
        from benchprism.scoring.share import share_to_keep

        found = share_to_keep(self.results, self.outcomes, seed=self.settings.seed)
        if self.as_json:
            print_json(plain(found, self.settings))
        else:
            show(found)
