"""Pushing to a real server."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from benchprism.annotate.consolidation.consolidate import VALUES_SCHEMA
from benchprism.annotate.review.argilla.client import Argilla
from benchprism.annotate.review.argilla.comparison import Delivery, Push, compare
from benchprism.annotate.review.argilla.dataset import Dataset, marked
from benchprism.annotate.review.argilla.push import send
from benchprism.annotate.review.case import cases
from benchprism.annotate.review.form import ReviewForm, form_of
from benchprism.annotate.review.server.access import Access
from benchprism.prompts.catalogue import Attribute, Catalogue
from benchprism.records.errors import EndpointError, InputError

ASKED = ("clarity", "knowledge_domain", "reasoning_kinds", "requires_calculation")


@pytest.fixture
def argilla(review_server: Any) -> Iterator[Argilla]:
    with Argilla(Access(**review_server.access)) as opened:
        yield opened


@pytest.fixture
def name() -> str:
    return f"push {uuid.uuid4()}"


@pytest.fixture
def form(core: Catalogue) -> ReviewForm:
    return form_of(core, ASKED)


def make_values(items: pa.Table, **given: Any) -> pa.Table:
    """The same values for every item, with a confidence of 0.75."""
    rows = [
        {
            "item_id": item_id,
            "attribute": attribute,
            "value": json.dumps(value),
            "provenance": "llm_single",
            "confidence": 0.75,
            "annotators": 1,
        }
        for item_id in items["item_id"].to_pylist()
        for attribute, value in given.items()
    ]
    return pa.Table.from_pylist(rows, schema=VALUES_SCHEMA)


def change(values: pa.Table, ids: Sequence[str], attribute: str, value: Any) -> pa.Table:
    rows = values.to_pylist()
    for row in rows:
        if row["item_id"] in ids and row["attribute"] == attribute:
            row["value"] = json.dumps(value)
    return pa.Table.from_pylist(rows, schema=VALUES_SCHEMA)


@pytest.fixture
def values(recorded_items: pa.Table) -> pa.Table:
    return make_values(
        recorded_items[:200],
        clarity=3,
        knowledge_domain="other",
        reasoning_kinds=["deductive", "causal"],
        requires_calculation=False,
    )


@pytest.fixture
def push(argilla: Argilla, name: str, form: ReviewForm) -> Callable[..., tuple[Push, Dataset]]:
    """Compare and send; returns what was sent and where."""

    def run(items: pa.Table, values: pa.Table, **other: Any) -> tuple[Push, Dataset]:
        asked = other.pop("form", form)
        delivery = Delivery(
            name=other.pop("name", name),
            form=asked,
            mode=other.pop("mode", "seen"),
            cases=partial(cases, items, values),
            **other,
        )
        [found] = compare(argilla, [delivery])
        steps: list[int] = []
        dataset = send(argilla, found, steps.append)
        assert sum(steps) == found.size
        return found, dataset

    return run


def records(argilla: Argilla, dataset: Dataset) -> dict[str, dict[str, Any]]:
    listed = argilla.records(dataset.id, ["responses", "suggestions"])
    return {record["external_id"]: record for record in listed}


def suggested(record: Mapping[str, Any], dataset: Dataset) -> dict[str, Any]:
    names = {identity: question for question, identity in dataset.questions.items()}
    return {names[s["question_id"]]: s["value"] for s in record["suggestions"]}


def answer(server: Any, user: str, record: Mapping[str, Any], **values: Any) -> Any:
    wire = {name: {"value": value} for name, value in values.items()}
    body = {"status": "submitted" if values else "discarded", "values": wire}
    return server.log_in(user)("POST", f"records/{record['id']}/responses", body)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the client's own
def test_argillas_own_client_reads_what_was_pushed(
    monkeypatch: pytest.MonkeyPatch,
    argilla: Argilla,
    push: Callable[..., tuple[Push, Dataset]],
    recorded_items: pa.Table,
    values: pa.Table,
    name: str,
) -> None:
    monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")
    import argilla as rg

    items = recorded_items[:3]
    push(items, values)
    access = argilla.access
    client = rg.Argilla(api_url=access.api_url, api_key=access.api_key)
    found = client.datasets(name, workspace=access.workspace)
    assert found is not None
    assert {question.name for question in found.settings.questions} == {*ASKED, "note"}
    clarity = {record.id: record.suggestions["clarity"].value for record in found.records}
    assert clarity == dict.fromkeys(items["item_id"].to_pylist(), 3)


def test_two_hundred_items_arrive_whole_and_only_once(
    argilla: Argilla,
    push: Callable[..., tuple[Push, Dataset]],
    recorded_items: pa.Table,
    values: pa.Table,
) -> None:
    items = recorded_items[:200]
    first, dataset = push(items, values)
    assert first.counts == {"new": 200}
    there = records(argilla, dataset)
    assert list(there) == items["item_id"].to_pylist()
    item, record = items.to_pylist()[0], next(iter(there.values()))
    assert suggested(record, dataset) == {
        "clarity": 3,
        "knowledge_domain": "other",
        "reasoning_kinds": ["deductive", "causal"],
        "requires_calculation": "false",
    }
    scores = {json.dumps(suggestion["score"]) for suggestion in record["suggestions"]}
    assert scores == {"0.75", "[0.75, 0.75]"}
    assert {suggestion["agent"] for suggestion in record["suggestions"]} == {"llm_single"}
    metadata = record["metadata"]
    assert metadata["content_hash"] == item["content_hash"]
    assert (metadata["benchmark"], metadata["confidence"]) == (item["benchmark"], 0.75)
    assert (metadata["mode"], metadata["reason"]) == ("seen", ["all"])
    again, same = push(items, values)
    assert (again.size, again.counts, same.id) == (0, {"unchanged": 200}, dataset.id)


def test_a_change_of_values_is_sent_alone_and_keeps_what_people_answered(
    argilla: Argilla,
    push: Callable[..., tuple[Push, Dataset]],
    recorded_items: pa.Table,
    values: pa.Table,
    review_server: Any,
) -> None:
    items = recorded_items[:20]
    ids = items["item_id"].to_pylist()
    _, dataset = push(items, values)
    before = records(argilla, dataset)
    answer(review_server, "alice", before[ids[0]], clarity=1, knowledge_domain="other",
           reasoning_kinds=["none"], requires_calculation="true")  # fmt: skip
    answer(review_server, "bob", before[ids[1]])
    changed = change(values, ids[:2], "clarity", 0)
    gone = changed.filter(
        pc.invert(
            pc.and_(pc.equal(changed["item_id"], ids[2]), pc.equal(changed["attribute"], "clarity"))
        )
    )
    second, same = push(items, gone)
    assert (second.counts, same.id) == ({"changed": 3, "unchanged": 17}, dataset.id)
    there = records(argilla, dataset)
    assert [suggested(there[name], dataset)["clarity"] for name in ids[:2]] == [0, 0]
    assert "clarity" not in suggested(there[ids[2]], dataset)
    assert len(suggested(there[ids[2]], dataset)) == 3
    [response] = there[ids[0]]["responses"]
    assert (response["status"], response["values"]["clarity"]) == ("submitted", {"value": 1})
    [discarded] = there[ids[1]]["responses"]
    assert (discarded["status"], discarded["values"]) == ("discarded", {})
    kept = {"content_hash", "catalogue", "meaning", "mode", "state", "benchmark", "reason"}
    assert all(kept <= record["metadata"].keys() for record in there.values())
    assert push(items, gone)[0].size == 0


def test_an_answered_item_that_changes_stands_beside_its_old_text(
    argilla: Argilla,
    push: Callable[..., tuple[Push, Dataset]],
    make_items: Callable[..., pa.Table],
    review_server: Any,
) -> None:
    items = make_items(["Old first?", "Old second?"])
    values = make_values(items, clarity=3)
    first, second = items["item_id"].to_pylist()
    _, dataset = push(items, values)
    answer(review_server, "alice", records(argilla, dataset)[first], clarity=2,
           knowledge_domain="other", reasoning_kinds=["none"],
           requires_calculation="false")  # fmt: skip
    later = make_items(["New first?", "New second?"])
    found, _ = push(later, values)
    assert found.counts == {"beside": 1, "changed": 1}
    there = records(argilla, dataset)
    beside = next(name for name in there if name.startswith(f"{first}@"))
    assert {name: there[name]["fields"]["question"] for name in there} == {
        first: "Old first?", second: "New second?", beside: "New first?"
    }  # fmt: skip
    old = items["content_hash"].to_pylist()[0]
    assert there[first]["metadata"]["content_hash"] == old
    assert len(there[first]["responses"]) == 1
    assert push(later, values)[0].counts == {"unchanged": 2}
    assert push(items, values)[0].counts == {"changed": 1, "unchanged": 1}


def test_what_a_published_dataset_takes_is_changed_in_place(
    argilla: Argilla,
    push: Callable[..., tuple[Push, Dataset]],
    make_items: Callable[..., pa.Table],
    core: Catalogue,
) -> None:
    items = make_items(3)
    values = make_values(items, clarity=3)
    _, dataset = push(items, values)
    said = altered(core["clarity"], title="How clear", question="Is it clear?")
    labels = {**core["knowledge_domain"].values, "mathematics": "numbers"}
    other = altered(core["knowledge_domain"], labels=labels)
    changed = form_of(with_attribute(with_attribute(core, said), other), ASKED)
    found, same = push(items, values, form=changed)
    assert (same.id, found.found.misfits) == (dataset.id, ())
    asked = argilla.get(f"datasets/{dataset.id}/questions")["items"]
    clarity = next(question for question in asked if question["name"] == "clarity")
    assert clarity["title"] == "How clear"
    assert clarity["description"].startswith("Is it clear?")
    domain = next(question for question in asked if question["name"] == "knowledge_domain")
    assert domain["settings"]["options"][0]["description"] == "numbers"
    about = argilla.get(f"datasets/{dataset.id}")
    assert "Is it clear?" in about["guidelines"]
    before = about["updated_at"]
    push(items, values, form=changed)
    assert argilla.get(f"datasets/{dataset.id}")["updated_at"] == before


def test_more_responses_can_be_asked_for_and_never_fewer(
    argilla: Argilla, push: Callable[..., tuple[Push, Dataset]], make_items: Callable[..., pa.Table]
) -> None:
    items = make_items(2)
    values = make_values(items, clarity=3)
    needed = []
    for overlap in (1, 3, 2):
        _, dataset = push(items, values, overlap=overlap)
        needed.append(argilla.get(f"datasets/{dataset.id}")["distribution"]["min_submitted"])
    assert needed == [1, 3, 3]


def test_what_it_cannot_take_becomes_a_new_version(
    argilla: Argilla,
    push: Callable[..., tuple[Push, Dataset]],
    make_items: Callable[..., pa.Table],
    core: Catalogue,
    name: str,
) -> None:
    items = make_items(3)
    values = make_values(items, clarity=3)
    _, dataset = push(items, values)
    levels = {**core["clarity"].levels, 4: "Beyond doubt"}
    more = altered(core["clarity"], levels=levels)
    changed = form_of(with_attribute(core, more), [*ASKED, "setting"])
    found, second = push(items, values, form=changed)
    assert set(found.found.misfits) == {"clarity has other values", "the question setting is new"}
    assert (second.name, second.mark.version) == (f"{name}-2", 2)
    assert len(records(argilla, dataset)) == len(records(argilla, second)) == 3
    assert push(items, values, form=changed)[1].id == second.id
    assert push(items, values)[1].id == dataset.id
    versions = [mark.version for mark, _ in marked(argilla) if mark.name == name]
    assert sorted(versions) == [1, 2]


def test_blind_reviewers_see_no_suggestion_and_nothing_that_hints_at_one(
    argilla: Argilla, push: Callable[..., tuple[Push, Dataset]], make_items: Callable[..., pa.Table]
) -> None:
    items = make_items(3)
    _, dataset = push(items, make_values(items, clarity=3), mode="blind")
    assert all(not record["suggestions"] for record in records(argilla, dataset).values())
    listed = argilla.get(f"me/datasets/{dataset.id}/metadata-properties")["items"]
    shown = {prop["name"] for prop in listed if prop["visible_for_annotators"]}
    assert shown == {"benchmark", "subset", "reviewer"}


class _Lengths:
    def embed(self, texts: Sequence[str]) -> Any:
        return np.array([[len(text), 1.0, 0.0] for text in texts], np.float32)


def test_vectors_find_similar_items_and_are_sent_once(
    argilla: Argilla, push: Callable[..., tuple[Push, Dataset]], make_items: Callable[..., pa.Table]
) -> None:
    items = make_items(["a" * 3, "a" * 300, "a" * 310])
    values = make_values(items, clarity=3)
    push(items, values)
    options = {"encoder": _Lengths(), "dimensions": 3}
    found, dataset = push(items, values, **options)
    assert found.counts == {"changed": 3}
    assert push(items, values, **options)[0].size == 0
    assert push(items, values)[0].size == 0
    there = argilla.get(f"datasets/{dataset.id}/records", include="vectors")["items"]
    assert all(len(record["vectors"]["minilm"]) == 3 for record in there)


def test_hostile_texts_and_long_ones_come_back_as_they_are_shown(
    argilla: Argilla, push: Callable[..., tuple[Push, Dataset]], make_items: Callable[..., pa.Table]
) -> None:
    texts = ["<script>x</script> &amp; {{ 7 }}", "word " * 20_000, "🎉 שלום \u202e", "a\x00b"]
    items = make_items(texts)
    _, dataset = push(items, make_values(items, clarity=3))
    shown = [record["fields"]["question"] for record in records(argilla, dataset).values()]
    assert shown == [
        "&lt;script&gt;x&lt;/script&gt; &amp;amp; {{ 7 }}",
        "word " * 20_000,
        "🎉 שלום \u202e",
        "a␀b",
    ]


def test_all_faults_are_told_at_once_before_anything_is_sent(
    argilla: Argilla, make_items: Callable[..., pa.Table], core: Catalogue, name: str
) -> None:
    one_label = Attribute(id="only", type="label", question="?", labels=["x" * 201])
    note = Attribute(id="note", type="level", question="?", levels=dict.fromkeys(range(12), "x"))
    changed = with_attribute(with_attribute(core, one_label), note)
    items = make_items(1)
    delivery = Delivery(
        "n" * 201, form_of(changed, ["only", "note"]), "seen",
        partial(cases, items, make_values(items)),
    )  # fmt: skip
    with pytest.raises(InputError) as refused:
        compare(argilla, [delivery])
    for told in ("201 characters, of 1 to 195", "only has 1 labels", "note has 12 levels",
                 "an attribute is called 'note'", "'xxxx"):  # fmt: skip
        assert told in str(refused.value)


def test_a_name_that_is_not_benchprisms_is_left_alone(
    argilla: Argilla,
    push: Callable[..., tuple[Push, Dataset]],
    make_items: Callable[..., pa.Table],
    name: str,
) -> None:
    argilla.post("datasets", {"name": name, "workspace_id": argilla.workspace_id()})
    items = make_items(1)
    with pytest.raises(InputError, match="that benchprism has not made"):
        push(items, make_values(items, clarity=3))


def test_a_push_that_was_killed_goes_on(
    argilla: Argilla,
    push: Callable[..., tuple[Push, Dataset]],
    make_items: Callable[..., pa.Table],
    form: ReviewForm,
    name: str,
) -> None:
    items = make_items(510)
    values = make_values(items, clarity=3)
    delivery = Delivery(name, form, "seen", partial(cases, items, values))
    [found] = compare(argilla, [delivery])

    def stop(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        send(argilla, found, stop)
    again, dataset = push(items, values)
    assert again.counts == {"unchanged": 500, "new": 10}
    assert len(records(argilla, dataset)) == 510


def test_a_dataset_that_was_begun_and_not_published_is_made_anew(
    argilla: Argilla,
    push: Callable[..., tuple[Push, Dataset]],
    make_items: Callable[..., pa.Table],
    name: str,
) -> None:
    mark = {"name": name, "version": 1, "mode": "seen", "dimension": "", "catalogue": "c"}
    begun = {"name": name, "workspace_id": argilla.workspace_id(), "metadata": {"benchprism": mark}}
    draft = argilla.post("datasets", begun)["id"]
    items = make_items(2)
    _, dataset = push(items, make_values(items, clarity=3))
    assert (dataset.name, dataset.id != draft) == (name, True)


def test_a_wrong_key_and_a_missing_workspace_are_told(review_server: Any) -> None:
    access = review_server.access
    wrong = Access(access["api_url"], "no-such-key")
    with Argilla(wrong) as opened, pytest.raises(EndpointError, match="not know the API key"):
        opened.datasets()
    other = Access(access["api_url"], access["api_key"], "elsewhere")
    with Argilla(other) as opened, pytest.raises(InputError, match="one of 'benchprism'"):
        opened.datasets()


def test_a_server_that_is_not_there_is_told() -> None:
    access = Access("http://127.0.0.1:9", "key")
    with Argilla(access) as opened, pytest.raises(EndpointError, match="no Argilla server answers"):
        opened.datasets()


def altered(attribute: Attribute, **changes: Any) -> Attribute:
    return Attribute.model_validate({**attribute.model_dump(by_alias=True), **changes})


def with_attribute(catalogue: Catalogue, attribute: Attribute) -> Catalogue:
    """The catalogue with another attribute of this id, or with one more."""
    known = attribute.id in {a.id for a in catalogue}
    dimensions = [
        dimension.model_copy(
            update={
                "attributes": [
                    attribute if a.id == attribute.id else a for a in dimension.attributes
                ]
                + ([attribute] if not known and place == 0 else [])
            }
        )
        for place, dimension in enumerate(catalogue.dimensions)
    ]
    return catalogue.model_copy(update={"dimensions": dimensions})
