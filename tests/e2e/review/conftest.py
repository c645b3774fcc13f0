"""Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_OPTIONS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


@pytest.fixture(scope="module")  # no longer: while Playwright runs, no other test can run a loop
def chromium() -> Iterator[Browser]:
    """A headless browser; tests that need one are skipped where there is none, but not in CI."""
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        _do_without("no Chromium is installed: apt-get install chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _do_without("Playwright is not installed: pip install playwright")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=_OPTIONS)
        yield browser
        browser.close()


def _do_without(reason: str) -> NoReturn:
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A new window of a browser that nobody is logged in to."""
    context = chromium.new_context(viewport={"width": 1440, "height": 950})
    yield context.new_page()
    context.close()


@dataclass(frozen=True)
class Reviewer:
    """A person at the web UI, who is logged in and sees one record of a dataset."""

    page: Page
    url: str

    def open(self, dataset: str, number: int = 1, status: str = "pending") -> None:
        """Show the record with this number, counted from 1, among those of a status."""
        query = f"page={number}&status={status}"
        self.page.goto(f"{self.url}/dataset/{dataset}/annotation-mode?{query}")
        self.page.locator(".text_field_component").first.wait_for()

    @property
    def texts(self) -> list[str]:
        """The fields of the record as they are shown."""
        return self.page.locator(".text_field_component").all_inner_texts()

    def choose(self, attribute: str, answer: str) -> None:
        """Choose an answer to a question, or take it back."""
        self.page.locator(f'label[for="{attribute}_{answer}"]').click()

    def submit(self) -> None:
        self._press("Submit")

    def discard(self) -> None:
        self._press("Discard")

    def save_draft(self) -> None:
        self._press("Save as draft")

    def _press(self, name: str) -> None:
        with self.page.expect_response(lambda answer: "/responses" in answer.url) as sent:
            self.page.get_by_role("button", name=name).click()
        assert sent.value.ok


@pytest.fixture
def reviewer(page: Page, review_server: Any) -> Callable[[str], Reviewer]:
    """Log a user of the shared server in."""

    def log_in(name: str) -> Reviewer:
        page.goto(f"{review_server.url}/sign-in")
        page.fill('input[type="text"]', name)
        page.fill('input[type="password"]', review_server.passwords[name])
        page.keyboard.press("Enter")
        page.wait_for_url(f"{review_server.url}/")
        return Reviewer(page, review_server.url)

    return log_in
