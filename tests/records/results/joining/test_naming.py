"""What models are called: white space, renaming, choosing, and names that look the same."""

from __future__ import annotations

import pytest

from benchprism.records.errors import InputError
from benchprism.records.results.joining.naming import LEFT_OUT, ModelNames, alike


def test_white_space_is_no_part_of_a_name() -> None:
    names = ModelNames()
    assert [names.code(name, "t.csv") for name in ("M ", "N", "M", " M")] == [0, 1, 0, 0]
    assert names.texts == ["M", "N"]
    found = [finding.found for finding in names.findings()]
    assert found == ["the model's name 'M '", "the model's name ' M'"]
    assert not any(finding.is_fault for finding in names.findings())


def test_no_name_becomes_the_file_s() -> None:
    names = ModelNames()
    names.code("", "logs/run_7.jsonl")
    assert names.texts == ["run_7"]
    assert "--rename run_7=NAME" in str(next(names.findings()))


def test_models_are_renamed_and_chosen_by_either_name() -> None:
    names = ModelNames({"bu6tyawv": "Llama"}, ["Llama", "other"])
    assert [names.code(name, "f") for name in ("bu6tyawv", "third", "other")] == [0, LEFT_OUT, 1]
    assert names.texts == ["Llama", "other"]
    names.check()


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (ModelNames({"lama": "x"}), "--rename 'lama'; .* did you mean 'Llama'"),
        (ModelNames({}, ["lama"]), "--model 'lama'; .* did you mean 'Llama'"),
    ],
)
def test_options_that_name_no_model_are_refused(names: ModelNames, sentence: str) -> None:
    names.code("Llama", "f")
    with pytest.raises(InputError, match=sentence):
        names.check()


@pytest.mark.parametrize(
    ("names", "count"),
    [
        (["caf\u00e9", "cafe\u0301", "cafe"], 1),
        ([" 2", "2", "3"], 1),
        (["a  b", "a b", "c\u00a0d", "c d"], 1),
        (["001", "1", "A", "a"], 0),
        (["caf\u00e9", "2 "], 0),
    ],
)
def test_names_that_look_the_same(names: list[str], count: int) -> None:
    found = list(alike(names, "items of 'b'", "mend them"))
    assert len(found) == count
    assert all(finding.is_fault for finding in found)


def test_a_name_that_the_project_has_in_another_form_is_said() -> None:
    names = ModelNames()
    names.code("caf\u00e9", "f")
    assert not list(names.findings(["a\u0308", "\u00e4", "x"]))
    (found,) = names.findings(["cafe\u0301"])
    assert "models that differ in white space or Unicode form only" in found.found
