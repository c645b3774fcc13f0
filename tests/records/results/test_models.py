from __future__ import annotations

from pathlib import Path

import pytest

from benchprism.records.errors import InputError
from benchprism.records.results.model_draft import draft_models, write_draft
from benchprism.records.results.model_names import guess_models
from benchprism.records.results.models import (
    DeclaredModel,
    doubtful_entries,
    read_models,
    read_models_file,
    unusable_for_cad,
)


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_yaml_and_csv_say_the_same(tmp_path: Path) -> None:
    yaml = "models:\n  b-70b: {family: B, size: 70}\n  a: {family: A}\n"
    csv = "model,family,size,licence\nb-70b,B,70,mit\na,A,,\n"
    wanted = {
        "b-70b": DeclaredModel(family="B", size=70.0),
        "a": DeclaredModel(family="A", size=None),
    }
    for path in (written(tmp_path, "m.yaml", yaml), written(tmp_path, "m.csv", csv)):
        found = read_models(path)
        assert found == wanted
        assert list(found) == ["b-70b", "a"]


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("m.yaml", "models:\n  a: {familly: A}\n", "did you mean 'family'?"),
        ("m.yaml", "models:\n  a: {family: A, size: 8x7B}\n", "line 2"),
        (
            "m.csv",
            "model,family,size\na,A,8x7B\n",
            "line 2, column 'size': '8x7B'; wanted a number",
        ),
        ("m.csv", "model,family,size\na,A,1\na,B,2\n", "line 3: the model 'a' again"),
        ("m.csv", "model,family,size\na,,1\n", "line 2: no model or no family"),
        ("m.csv", "model,familie,size\na,A,1\n", "did you mean 'familie'?"),
        ("none.yaml", None, "No such file"),
        ("none.csv", None, "No such file"),
    ],
)
def test_wrong_files_are_one_sentence(
    tmp_path: Path, name: str, text: str | None, sentence: str
) -> None:
    path = tmp_path / name if text is None else written(tmp_path, name, text)
    with pytest.raises(InputError) as caught:
        read_models(path)
    assert sentence in str(caught.value)
    assert name in str(caught.value)


def test_guesses_count_once_they_are_confirmed(tmp_path: Path) -> None:
    text = (
        "models:\n"
        "  a: {family: A, size: 1, guessed: [size]}\n"
        "  b: {family: A, size: 2, guessed: [family, size], confirmed: true}\n"
        "  c: {family: A, size: 3}\n"
    )
    path = written(tmp_path, "m.yaml", text)
    assert list(read_models(path)) == ["b", "c"]
    assert read_models_file(path).unconfirmed == ["a"]
    whole = written(tmp_path, "whole.yaml", f"confirmed: true\n{text}")
    assert list(read_models(whole)) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("sizes", "reason"),
    [
        ({"a": 7.0}, "one model (a): there is none to compare it with"),
        ({"a": None, "b": None}, "no size is known (a, b)"),
        ({"a": 7.0, "b": None}, "one size only, 7; unknown: b"),
        ({"a": 7.0, "b": 7.0}, "one size only, 7"),
        ({"a": 7.0, "b": 70.0, "c": None}, "in part: no size for c"),
        ({"a": 7.0, "b": 70.0, "c": 7.0}, "in part: a, c have one size, 7"),
        ({"a": 7.0, "b": 70.0}, None),
    ],
)
def test_families_that_sizes_cannot_compare(
    sizes: dict[str, float | None], reason: str | None
) -> None:
    models = {name: DeclaredModel(family="F", size=size) for name, size in sizes.items()}
    assert unusable_for_cad(models).get("F") == reason


@pytest.mark.parametrize(
    ("name", "family", "size"),
    [
        ("meta-llama/Llama-2-7b-chat-hf", "Llama-2-chat", 7.0),
        ("Llama-2-7b", "Llama-2", 7.0),
        ("Mixtral-8x7B-Instruct-v0.1", "Mixtral-Instruct-v0.1", 56.0),
        ("org__Beyonder-4x7B-v2-GGUF", "Beyonder-v2", 28.0),
        ("Qwen3-30B-A3B", "Qwen3", 30.0),
        ("EleutherAI/pythia-410m", "pythia", 0.41),
        ("stablelm-2-zephyr-1_6b", "stablelm-2-zephyr", 1.6),
        ("freewilly2_70b-hf", "freewilly2", 70),
        ("llama2_7b", "llama2", 7),
        ("qwen1_5_72b_chat", "qwen1.5-chat", 72),
        ("Qwen2_5-0_5B", "Qwen2.5", 0.5),
        ("Llama-3_1-8B", "Llama-3.1", 8),
        ("Meta-Llama-3.1-405B-Instruct@hyperbolic", "Meta-Llama-3.1-Instruct", 405.0),
        ("gpt-4o-2024-05-13", "gpt-4o", None),
        ("175b_finetuning", "finetuning", 175.0),
        ("7b", "7b", 7.0),
    ],
)
def test_what_names_suggest(name: str, family: str, size: float | None) -> None:
    guess = guess_models([name])[name]
    assert (guess.family, guess.size) == (family, size)
    assert guess.guessed == (["family"] if size is None else ["family", "size"])


@pytest.mark.parametrize("family", ["''", "'A '", "' '"])
def test_a_family_is_no_white_space(tmp_path: Path, family: str) -> None:
    path = written(tmp_path, "m.yaml", f"models:\n  a: {{family: {family}}}\n")
    with pytest.raises(InputError, match="wanted a name without white space around it"):
        read_models(path)


def test_entries_that_may_be_slips_are_named() -> None:
    declared = {
        name: DeclaredModel(family=family)
        for name, family in {"Foo-7B": "Foo", "foo-13b": "foo", "old": "Bar"}.items()
    }
    assert doubtful_entries(declared, {"Foo-7b", "foo-13b", "other"}) == [
        "names 'Foo-7B', which has no results; did you mean 'Foo-7b'?",
        "names 'old' without results",
        "has the families 'Foo' and 'foo', which are compared apart: one spelling?",
    ]
    assert doubtful_entries({"a": DeclaredModel(family="A")}, {"a", "b"}) == []


def test_families_differ_in_more_than_spelling() -> None:
    names = ["Yi-6B-Chat", "yi-34b-chat", "Yi-34B-chat", "Yi-6B"]
    families = [model.family.lower() for model in guess_models(names).values()]
    assert families == ["yi-chat"] * 3 + ["yi"]
    assert len({guess_models(names)[name].family for name in names[:3]}) == 1


def test_a_draft_keeps_what_a_person_wrote(tmp_path: Path) -> None:
    path = written(tmp_path, "m.yaml", "# mine\nmodels:\n  a-7b: {family: Mine, size: 1}  # !\n")
    draft = draft_models(path, ["a-7b", "b: c-70b"])
    assert draft.new == ("b: c-70b",)
    assert draft.file.models["a-7b"].family == "Mine"
    write_draft(path, draft)
    assert path.read_text(encoding="utf-8").startswith(
        "# mine\nmodels:\n  a-7b: {family: Mine, size: 1}  # !\n"
    )
    assert read_models_file(path) == draft.file
    assert draft_models(path, ["a-7b", "b: c-70b"]).new == ()


def test_the_template_of_a_new_project_is_filled(tmp_path: Path) -> None:
    path = written(tmp_path, "m.yaml", "# head\nmodels: {}\n#  x: {family: X}\n")
    write_draft(path, draft_models(path, ["a-7b"]))
    assert list(read_models_file(path).models) == ["a-7b"]
    assert path.read_text(encoding="utf-8").startswith("# head\nmodels:\n#  x")


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("m.csv", "model,family,size\na,A,1\n", "has no place for 1 more models"),
        ("m.yaml", "models:\n  a: {family: A}\nconfirmed: false\n", "ends with its models"),
        ("m.yaml", "confirmed: true\nmodels:\n  a: {family: A}\n", "is confirmed as a whole"),
    ],
)
def test_files_that_cannot_be_added_to(tmp_path: Path, name: str, text: str, sentence: str) -> None:
    path = written(tmp_path, name, text)
    with pytest.raises(InputError, match=sentence):
        write_draft(path, draft_models(path, ["a", "new-7b"]))
    assert path.read_text(encoding="utf-8") == text
