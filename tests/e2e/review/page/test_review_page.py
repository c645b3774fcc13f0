"""The page that works without a server, in a real browser, and its way into the ledger."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner, Result

from benchprism.annotate.ledger.store import Ledger
from benchprism.cli.main import app

if TYPE_CHECKING:
    from playwright.sync_api import Page

HOSTILE = [
    "<script>window.stolen = 1</script><img src=x onerror='window.stolen = 1'><b>b</b>",
    "</script><script>window.stolen = 1</script><!-- <script>",
    "{{ 7 * 7 }} {% if x %} ${7*7} {#1}",
    "a < b &amp; &lt;i&gt; \\u003c ]]> -->",
    "🎉👩‍🚀 \u202eright to left\u202c שלום עולם مرحبا",
    "first line\n  second line\ttab \u2028 separated \u2029 again",
    ("word " * 20_000).strip(),
    "the open one",
]
MakeProject = Callable[..., Path]


def run(*words: object) -> Result:
    return CliRunner().invoke(app, ["review", *map(str, words)], catch_exceptions=False)


def export(project: Path, *options: object) -> Path:
    result = run("export", "--project", project, "--json", *options)
    assert result.exit_code == 0
    return Path(json.loads(result.stdout)["page"])


def open_page(page: Page, path: Path, reviewer: str = "alice") -> None:
    page.goto(path.as_uri())
    page.keyboard.type(reviewer)
    page.keyboard.press("Enter")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def save(page: Page, folder: Path) -> Path:
    with page.expect_download() as download:
        page.get_by_role("button", name="Save answers").click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def human_verdicts(project: Path) -> list[tuple[object, ...]]:
    with Ledger(project / "ledger.sqlite") as ledger:
        return [
            (one.item_id, one.attribute, one.value, one.annotator, one.status, one.reason)
            for one in ledger.annotations()
            if one.annotator.startswith("human:")
        ]


def human_bodies(project: Path) -> dict[str, dict[str, Any]]:
    with Ledger(project / "ledger.sqlite") as ledger:
        query = "SELECT item_id, body, time FROM reply JOIN body USING (body_hash)"
        rows = ledger.query(f"{query} WHERE annotator GLOB 'human:*'")
        return {str(name): {**json.loads(str(body)), "at": time} for name, body, time in rows}


def test_what_is_answered_by_keys_is_in_the_ledger(
    page: Page, review_project: MakeProject, tmp_path: Path
) -> None:
    project = review_project("first", "second", "third", "fourth", "open")
    open_page(page, export(project))
    shown = page.locator(".asked .head").all_inner_texts()
    assert [text.replace("\n", " ") for text in shown] == [
        "Depth 1 a step suggested 0.80",
        "Kinds of reasoning deductive from rules suggested 0.80",
        "Task fact suggested 0.80",
        "Negated no suggested 0.80",
        "Lures 0 none suggested 0.80",
    ]
    press(page, "2", "ArrowDown", "3", "Enter")  # depth 2, kinds as suggested, task 'other'
    press(page, "d")
    press(page, "0", "n")
    page.keyboard.type("not sure d s 1")
    press(page, "Escape", "s")
    assert page.locator("#progress").inner_text() == "2 of 4 done, 2 left"
    saved = save(page, tmp_path)
    assert saved.name == "audit-review-alice.json"

    result = run("import", "--project", project, saved)
    assert result.exit_code == 0
    names = ("depth", "kinds", "task", "negated", "lures")
    values = (2, ["deductive"], "other", False, 0)
    expected = [
        *[
            ("bench/test/0", n, v, "human:alice", "ok", "")
            for n, v in zip(names, values, strict=True)
        ],
        *[("bench/test/1", n, None, "human:alice", "abstained", "discarded") for n in names],
        *[("bench/test/2", n, None, "human:alice", "abstained", "draft") for n in names],
    ]
    assert sorted(human_verdicts(project), key=str) == sorted(expected, key=str)

    bodies = human_bodies(project)
    in_file = {one["item_id"]: one for one in json.loads(saved.read_text("utf-8"))["responses"]}
    draft = bodies["bench/test/2"]
    assert (draft["note"], draft["values"]["depth"]) == ("not sure d s 1", 0)
    assert (draft["via"], draft["mode"], draft["user"]) == ("page", "seen", "alice")
    assert draft["suggested"]["kinds"] == ["deductive"]
    assert draft["dataset"].startswith("page-")
    for name, body in bodies.items():
        assert body["at"] == in_file[name]["time"].replace("Z", "000+00:00")

    again = run("import", "--project", project, saved, "--json")
    [file] = json.loads(again.stdout)["files"]
    assert (file["recorded"]["new"], file["recorded"]["known"]) == ({}, 3)
    assert sorted(human_verdicts(project), key=str) == sorted(expected, key=str)


def test_hostile_items_show_as_text_and_do_nothing(page: Page, review_project: MakeProject) -> None:
    asked, wrong = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text))
    path = export(review_project(*HOSTILE))
    open_page(page, path)
    for text in HOSTILE[:-1]:
        assert page.locator("#item .stem").text_content() == text
        assert page.locator("#item .context").text_content() == text
        assert page.locator("#item .choices .key .text").text_content() == text
        press(page, "ArrowRight")
    assert page.evaluate("window.stolen") is None
    assert page.locator("#item img, #item b img, #item script").count() == 0
    assert (asked, wrong) == ([path.as_uri()], [])


def test_work_is_kept_when_the_tab_closes_and_pages_and_people_do_not_mix(
    page: Page, review_project: MakeProject
) -> None:
    project = review_project("first", "second", "third", "open")
    seen, blind = export(project), export(project, "--blind")
    assert seen != blind
    open_page(page, seen)
    press(page, "Enter", "2")
    page.close()
    second = page.context.new_page()
    second.goto(seen.as_uri())  # the name is not asked again
    assert second.locator("#progress").inner_text() == "1 of 3 done, 2 left"
    assert second.locator("#number").input_value() == "2"
    assert second.locator(".asked", has_text="How deep?").get_attribute("data-mark") == "changed"
    second.locator("#reviewer").click()
    second.locator("#name").fill("adjudicator:bob")
    second.keyboard.press("Enter")
    assert second.locator("#who-wrong").inner_text().startswith("A name without #, :")
    second.locator("#name").fill("bob")
    second.keyboard.press("Enter")
    assert second.locator("#progress").inner_text() == "0 of 3 done, 3 left"
    second.goto(blind.as_uri())
    second.keyboard.press("Enter")  # the name that was used last is filled in
    assert second.locator("#progress").inner_text() == "0 of 4 done, 4 left"


def test_a_blind_page_has_no_suggestions_and_wants_every_answer(
    page: Page, review_project: MakeProject, tmp_path: Path
) -> None:
    project = review_project("first", "second", "open")
    path = export(project, "--blind")
    assert "llm:main" not in path.read_text("utf-8")
    open_page(page, path)
    press(page, "Enter")
    said = page.locator("#said")
    assert said.inner_text() == "Not submitted: “Depth” and 3 more has no answer yet."
    press(page, "1")
    press(page, "2", "3", "1", "3", "2")  # kinds: deductive, causal; then none; then both again
    press(page, "ArrowDown", "2", "1")  # task: sum; negated: yes
    press(page, "x", "Enter")  # what may be left open is: lures
    assert said.inner_text() == "Submitted: item 1."
    press(page, "ArrowRight")
    assert page.locator(".asked:visible").count() == 4  # lures are not asked of an open question
    run("import", "--project", project, save(page, tmp_path))
    assert {name: (value, reason) for _, name, value, _, _, reason in human_verdicts(project)} == {
        "depth": (1, ""),
        "kinds": (["deductive", "causal"], ""),
        "task": ("sum", ""),
        "negated": (True, ""),
        "lures": (None, "left open"),
    }
    assert human_bodies(project)["bench/test/0"]["suggested"] == {}


def test_a_saved_file_goes_on_in_another_browser(
    page: Page, chromium: Any, review_project: MakeProject, tmp_path: Path
) -> None:
    path = export(review_project("first", "second", "third", "open"))
    open_page(page, path)
    press(page, "2", "Enter", "d")
    saved = save(page, tmp_path)
    context = chromium.new_context()
    other = context.new_page()
    open_page(other, path, "bob")
    other.locator("#file").set_input_files(saved)
    other.get_by_text("2 of 2 responses taken over").wait_for()
    assert other.locator("#reviewer").inner_text() == "alice"
    assert other.locator("#progress").inner_text() == "2 of 3 done, 1 left"
    other.locator("#file").set_input_files(path)
    other.get_by_text("holds no answers to this page").wait_for()
    context.close()


def test_items_are_filtered_by_status_and_held_keys_do_not_answer_on(
    page: Page, review_project: MakeProject
) -> None:
    open_page(page, export(review_project("first", "second", "third", "fourth", "open")))
    page.keyboard.down("d")
    page.keyboard.down("d")  # as a key that is held down repeats
    page.keyboard.up("d")
    press(page, "s", "Enter")
    filters = page.locator("#filters button")
    assert filters.all_inner_texts() == [
        "All 4",
        "To do 1",
        "Drafts 1",
        "Submitted 1",
        "Discarded 1",
    ]
    filters.filter(has_text="Drafts").click()
    assert page.locator("#number").input_value() == "2"
    press(page, "ArrowRight")
    assert page.locator("#said").inner_text() == "This is the last item here."
    filters.filter(has_text="To do").click()
    press(page, "Enter")
    assert page.locator("#progress").inner_text() == "3 of 4 done, 1 left"
    assert "Save your answers" in page.locator("#said").inner_text()


def test_two_tabs_of_a_page_are_one(page: Page, review_project: MakeProject) -> None:
    path = export(review_project("first", "second", "open"), "--reviewer", "alice")
    page.goto(path.as_uri())  # the page is alice's: no name is asked
    other = page.context.new_page()
    other.goto(path.as_uri())
    press(other, "2", "Enter")
    page.get_by_text("1 of 2 done, 1 left").wait_for()
    assert page.locator(".asked .answer").first.inner_text() == "2 more"
    with page.expect_download() as download:
        page.locator("#save").click()
    assert download.value.suggested_filename == "audit-review-alice.json"


def test_a_browser_that_keeps_nothing_is_said_at_once(
    page: Page, review_project: MakeProject
) -> None:
    broken = "Storage.prototype.setItem = () => { throw new Error('full'); };"
    page.add_init_script(broken)
    open_page(page, export(review_project("first", "open")))
    page.get_by_text("This browser does not keep your answers").wait_for()
    press(page, "Enter")
    assert page.locator("#progress").inner_text() == "1 of 1 done, 0 left"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out_from_their_ground(
    page: Page, review_project: MakeProject, scheme: Any
) -> None:
    page.emulate_media(color_scheme=scheme)
    open_page(page, export(review_project("first", "second", "open")))
    contrasts = page.evaluate(_CONTRASTS)
    assert min(contrasts.values()) >= 4.5, contrasts


_CONTRASTS = """() => {
  const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const light = (color) => {
    paint.clearRect(0, 0, 1, 1);
    paint.fillStyle = color;
    paint.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...paint.getImageData(0, 0, 1, 1).data].map((c) => c / 255)
      .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (node) => {
    const color = getComputedStyle(node).backgroundColor;
    return color !== "rgba(0, 0, 0, 0)" || !node.parentElement ? color : ground(node.parentElement);
  };
  const found = {};
  for (const node of document.querySelectorAll("body *")) {
    const own = [...node.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!own || !node.checkVisibility() || node.closest(":disabled, script, style")) continue;
    const [a, b] = [light(getComputedStyle(node).color), light(ground(node))].sort((x, y) => y - x);
    const name = `${node.tagName}.${node.className}`;
    found[name] = Math.min(found[name] ?? 99, (a + 0.05) / (b + 0.05));
  }
  return found;
}"""
