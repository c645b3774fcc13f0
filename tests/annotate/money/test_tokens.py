from __future__ import annotations

import pytest

from benchprism.annotate.money.tokens import count_tokens

# Counted with the vocabulary o200k_base.
COUNTED = [
    ("Which of the following is an example of organisms becoming dormant?", 12),
    ("birds flying south in the winter", 6),
    ("Natalia sold clips to 48 of her friends in April, and then she sold half as many clips in"
     " May. How many clips did Natalia sell altogether in April and May?", 36),
    ("def f(nums):\n    output = []\n    for n in nums:\n"
     "        output.append((nums.count(n), n))\n    output.sort(reverse=True)\n"
     "    return output", 33),
    ('{"note": "A fact.", "values": {"reasoning_depth": 0, "cognitive_process": "remember",'
     ' "uses_negation": false}, "doubt": []}', 39),
    (r"The integral of $\frac{x^2}{1+x}$ from 0 to 1 equals $\ln 2 - \frac{1}{2}$.", 32),
    ("Какой из следующих примеров показывает организмы, впадающие в спячку зимой?", 19),
    ("下列哪一项是生物体进入休眠状态的例子？", 17),
    ("Welche der folgenden Aussagen über die Geschwindigkeitsbegrenzung ist zutreffend?", 17),
]  # fmt: skip


@pytest.mark.parametrize(("text", "counted"), COUNTED)
def test_a_count_is_close_to_that_of_a_vocabulary(text: str, counted: int) -> None:
    assert count_tokens(text) == pytest.approx(counted, rel=0.3)


def test_the_whole_is_closer() -> None:
    texts = [text for text, _ in COUNTED]
    assert sum(map(count_tokens, texts)) == pytest.approx(sum(n for _, n in COUNTED), rel=0.08)


@pytest.mark.parametrize("text", ["", " ", "\n", "\x00", "\u202e", "😀"])
def test_odd_texts_have_few_tokens(text: str) -> None:
    assert 0 <= count_tokens(text) <= 1
