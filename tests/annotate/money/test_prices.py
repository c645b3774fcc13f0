from __future__ import annotations

from pathlib import Path

import pytest

from benchprism.annotate.ledger.outcome import Usage
from benchprism.annotate.money.prices import Price
from benchprism.project import ProjectSettings, find_project
from benchprism.records.errors import InputError

PRICE = Price(input=2.0, cached_input=0.5, output=8.0)

# A thousand tokens of a request cost 0.002, cached ones 0.0005, a thousand of a reply 0.008.
WORKED = [
    (Usage(1000, None, 0), 0.002),
    (Usage(1000, 0, 500), 0.002 + 0.004),
    (Usage(1000, 800, 500), 0.0004 + 0.0004 + 0.004),
    (Usage(1000, 1000, 0), 0.0005),
    (Usage(1000, 1200, 0), 0.0005),  # an endpoint that counts more cached tokens than there are
    (Usage(0, 0, 0), 0.0),
]


@pytest.mark.parametrize(("usage", "worked"), WORKED)
def test_a_reply_costs_its_tokens(usage: Usage, worked: float) -> None:
    assert PRICE.of(usage) == pytest.approx(worked, abs=1e-12)
    assert PRICE.of(usage, batch=True) == pytest.approx(worked, abs=1e-12)


def test_a_batch_costs_its_share() -> None:
    half = Price(input=2.0, output=8.0, batch=0.5)
    assert half.of(Usage(1000, 800, 500), batch=True) == pytest.approx((0.002 + 0.004) / 2)
    assert half.of(Usage(1000, 800, 500)) == pytest.approx(0.002 + 0.004)


@pytest.mark.parametrize("usage", [Usage(), Usage(5, 1, None), Usage(None, None, 5)])
def test_what_nobody_counted_has_no_price(usage: Usage) -> None:
    assert PRICE.of(usage) is None


@pytest.mark.parametrize("items", [1, 2, 3, 7, 50])
def test_shares_of_a_reply_add_up(items: int) -> None:
    whole = Usage(1003, 901, 47)
    shares = whole.shares(items)
    assert len(shares) == items
    for name in ("prompt_tokens", "cached_tokens", "completion_tokens"):
        counts = [getattr(share, name) for share in shares]
        assert sum(counts) == getattr(whole, name)
        assert max(counts) - min(counts) <= 1
    prices = [PRICE.of(share) for share in shares]
    assert sum(p for p in prices if p is not None) == pytest.approx(PRICE.of(whole))


def test_shares_of_what_nobody_counted_are_unknown() -> None:
    assert Usage(4, None, None).shares(2) == [Usage(2, None, None)] * 2


def project(folder: Path, text: str) -> ProjectSettings:
    (folder / "benchprism.yaml").write_text(f"project: p\n{text}\n", encoding="utf-8")
    return find_project(folder).settings


def test_prices_stand_in_the_project_file(tmp_path: Path) -> None:
    settings = project(
        tmp_path,
        "prices: {m: {input: 2, cached_input: 0.5, output: 8.0, batch: 0.5}}\nconfirm_above: 0\n"
        "budget: 5\nannotators: {a: {model: m, ask: dimension, items_per_call: 4}}",
    )
    assert settings.prices == {"m": Price(input=2.0, cached_input=0.5, output=8.0, batch=0.5)}
    assert (settings.confirm_above, settings.budget) == (0.0, 5.0)
    assert settings.annotators["a"].ask == "dimension"
    assert settings.annotators["a"].items_per_call == 4


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("prices: {m: {input: 2}}", "no 'prices.m.output'"),
        ("prices: {m: {input: -1, output: 2}}", "prices.m.input is -1"),
        ("prices: {m: {input: 1, output: 2, ouput: 2}}", "unknown key 'ouput'"),
        ("prices: {m: {input: 1, output: free}}", "prices.m.output is 'free'"),
        ("prices: {m: {input: 1, output: 2, batch: 50}}", "prices.m.batch is 50"),
        ("budget: -1", "budget is -1"),
        ("annotators: {a: {model: m, items_per_call: 0}}", "items_per_call is 0"),
        ("annotators: {a: {model: m, ask: attribute}}", "ask is 'attribute'"),
    ],
)
def test_a_wrong_setting_is_one_sentence(tmp_path: Path, text: str, found: str) -> None:
    with pytest.raises(InputError, match=found):
        project(tmp_path, text)
