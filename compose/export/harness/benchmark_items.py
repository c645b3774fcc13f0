"""The items of this benchmark, asked and judged by the rule of the benchmark that each came from.

The evaluation harnesses' task files beside this one import it. It needs pyarrow, and nothing of
benchprism. Item text is only ever a value: it is not rendered, evaluated or cast.
"""

from __future__ import annotations

import ast
import json
import re
import string
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
SOURCES = "sources.json"
_LETTERS = string.ascii_uppercase
_FIELD = re.compile(r"\{([a-z]+)\}")
_NUMBER = re.compile(r"-?[$0-9.,]{2,}|-?[0-9]+")
_LETTER_IN_TEXT = re.compile(r"answer is:?\s*\**\(?([A-Z]|[0-9]+)\)?\b")
_LAST_LETTER = re.compile(r"\b([A-Z])\b")
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_UNITS = re.compile(r"\\text\{ .*\}$|\\(?:left|right|!|,|;|%|\$)|\^\{?\\circ\}?|\s")

Row = Mapping[str, Any]
Rule = Mapping[str, Any]
"""An entry of ``sources.json``: ``benchmark``, ``kind``, ``scoring``, ``prompt``, ..."""


def sources() -> dict[str, Any]:
    """Read what the task files know of the benchmark: its name, repository and parts."""
    read: dict[str, Any] = json.loads((FOLDER / SOURCES).read_text(encoding="utf-8"))
    return read


def label(position: int) -> str:
    """The label of an option: A to Z, then 1, 2, ...

    >>> label(0), label(25), label(26)
    ('A', 'Z', '1')
    """
    return _LETTERS[position] if position < len(_LETTERS) else str(position - len(_LETTERS) + 1)


def part_rows(part: Rule, repository: str | None = None) -> list[dict[str, Any]]:
    """Read the rows of one part: of the files beside the task files, else of the repository.

    Rows that the rule cannot judge are left out; ``left_out`` says why.
    """
    rows = _rows(part, repository)
    return [row for row in rows if left_out(row, part) is None]


def _rows(part: Rule, repository: str | None) -> list[dict[str, Any]]:
    path = FOLDER.parent / part["file"]
    if path.is_file():
        import pyarrow.parquet as pq

        rows = pq.read_table(path).to_pylist()
    else:
        import datasets

        found = repository or sources()["repository"]
        if found is None:
            raise FileNotFoundError(f"{path} is missing and no repository is named")
        rows = list(datasets.load_dataset(found, part["kind"], split="test"))
    return [row for row in rows if row["benchmark"] == part["benchmark"]]


def left_out(row: Row, part: Rule) -> str | None:
    """Why a rule cannot judge an item; none when it can."""
    scoring = part["scoring"]
    if scoring == "instructions":
        return None if row["source_record"] else "no record of the source"
    if part["kind"] == "generative":
        return None if row["answer_text"] is not None else "no key"
    if row["answer_index"] is None:
        return "no key"
    if scoring == "options" and not all(row["choices"]):
        return "an empty choice has no likelihood"
    if scoring == "blank" and "_" not in row["question"]:
        return "no gap in the sentence"
    return None


def query(row: Row, part: Rule) -> str:
    """What a model is asked, up to where its answer begins.

    >>> part = {"prompt": "{passage}Q: {question}\\nA:", "kind": "generative"}
    >>> query({"question": "{{x}} {options}?", "context": "", "choices": []}, part)
    'Q: {{x}} {options}?\\nA:'
    """
    context, question = row["context"], row["question"]
    fields = {
        "question": question,
        "trimmed": question.strip(),
        "context": context,
        "passage": context and f"{context}\n\n",
        "subset": (row.get("subset") or "").replace("_", " "),
        "options": "\n".join(f"{label(n)}. {text}" for n, text in enumerate(row["choices"] or ())),
    }
    if "{cleaned}" in part["prompt"]:
        fields["cleaned"] = cleaned(_with_capital(row))
    text: str = _FIELD.sub(lambda field: fields[field[1]], part["prompt"])
    return text


def cleaned(text: str) -> str:
    """A text without the marks that the how-to articles in HellaSwag have.

    >>> cleaned("Cooking: Cut [title] Peel [step] it  now")
    'Cooking: Cut. Peel it now'
    """
    return re.sub(r"\[.*?\]", "", text.strip().replace(" [title]", ". ")).replace("  ", " ")


def _with_capital(row: Row) -> str:
    """HellaSwag's context with its unfinished sentence capitalised, where its record is there."""
    record = json.loads(row.get("source_record") or "{}")
    if not {"activity_label", "ctx_a", "ctx_b"} <= record.keys():
        return str(row["question"])
    return f"{record['activity_label']}: {record['ctx_a']} {record['ctx_b'].capitalize()}"


def options(row: Row, part: Rule) -> list[str]:
    """What the likelihood is taken of, one for each choice.

    For ``blank`` these are the beginnings, and ``ending`` is what the likelihood is taken of.
    """
    choices: list[str] = list(row["choices"] or ())
    if part["scoring"] == "letters":
        return [label(position) for position in range(len(choices))]
    if part["scoring"] == "blank":
        before = row["question"].partition("_")[0]
        return [before + choice for choice in choices]
    return [cleaned(choice) or choice for choice in choices] if part.get("cleaned") else choices


def ending(row: Row) -> str:
    """What follows the gap of a sentence.

    >>> ending({"question": "He ate the _ because it was sweet."})
    'because it was sweet.'
    """
    return str(row["question"].partition("_")[2].strip())


def accepted(row: Row, part: Rule) -> list[str]:
    """The written answers that are right: the key first."""
    if part["scoring"] == "letter_in_text":
        return [label(row["answer_index"])]
    found = [row["answer_text"], *(row["accepted_answers"] or ())]
    return list(dict.fromkeys(text for text in found if text is not None))


def written(scoring: str, reply: str) -> str:
    """The answer within a written reply.

    >>> written("number", "so 2 + 3 = 5."), written("letter_in_text", "The answer is (C).")
    ('5.', 'C')
    >>> written("mathematics", r"hence \\boxed{\\frac{1}{2}}"), written("exact", " yes \\n")
    ('\\\\frac{1}{2}', 'yes')
    """
    if scoring == "number":
        return next(reversed(_NUMBER.findall(reply)), "")
    if scoring == "letter_in_text":
        found = _LETTER_IN_TEXT.findall(reply) or _LAST_LETTER.findall(reply)
        return found[-1] if found else ""
    if scoring == "mathematics":
        return _formula(reply)
    if scoring == "literal":
        return _asserted(reply)
    return reply.strip()


def score(scoring: str, reply: str, answers: Iterable[str]) -> float:
    """How right a written reply is, from 0 to 1: the best over the accepted answers.

    >>> score("number", "#### 1,000", ["1000"]), score("literal", "{2: 1, 1: 2}", ["{1: 2, 2: 1}"])
    (1.0, 1.0)
    >>> score("exact", "007", ["7"]), score("exact", "None.", ["7", "none"])
    (0.0, 1.0)
    """
    found = written(scoring, reply)
    return max((_agreement(scoring, found, answer) for answer in answers), default=0.0)


def _agreement(scoring: str, found: str, answer: str) -> float:
    if scoring == "f1":
        return shared_words(found, answer)
    if scoring == "number":
        return float(_number(found) == _number(answer))
    if scoring == "mathematics":
        return float(_plain_formula(found) == _plain_formula(answer))
    if scoring == "literal":
        return float(_literal(found) == _literal(answer))
    return float(_plain(found) == _plain(answer))


def _plain(text: str) -> str:
    """A text as ``exact`` compares it: without case, commas, line ends, quotes and a last point."""
    return re.sub(r"[,\n\\\"]", "", text).strip().removesuffix(".").lower()


def _number(text: str) -> Decimal | str:
    plain = text.replace(",", "").replace("$", "").strip().removesuffix(".").lower()
    try:
        number = Decimal(plain)
    except InvalidOperation:
        return plain
    return number if number.is_finite() else plain


def _literal(text: str) -> tuple[bool, Any]:
    """Whether a text is a literal of Python, and its value; else the text as it is."""
    try:
        return True, ast.literal_eval(text.strip())
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return False, text.strip()


def _asserted(reply: str) -> str:
    """What stands after the last ``==`` of an assertion, or the whole answer."""
    inner = reply.rpartition("[ANSWER]")[2].partition("[/ANSWER]")[0]
    return inner.rpartition("==")[2].strip()


def _formula(reply: str) -> str:
    """What is in the last ``\\boxed{}``; else between the first and the last dollar sign."""
    start = reply.rfind("\\boxed{")
    if start >= 0:
        depth = 0
        for place in range(start + len("\\boxed"), len(reply)):
            depth += {"{": 1, "}": -1}.get(reply[place], 0)
            if depth == 0:
                return reply[start + len("\\boxed{") : place]
    between = reply.split("$")
    return "$".join(between[1:-1]) if len(between) > 2 else reply.strip()


def _plain_formula(text: str) -> str:
    """A formula without what spellings differ in; not a proof that two are equal.

    >>> {_plain_formula(text) for text in ("x = \\\\dfrac12", "1/2", "0.5", ".5")}
    {'\\\\frac{1}{2}'}
    """
    plain = _UNITS.sub("", text.strip().removeprefix("$").removesuffix("$"))
    plain = plain.replace("dfrac", "frac").replace("tfrac", "frac").removesuffix(".")
    plain = re.sub(r"^[a-zA-Z]=", "", plain)
    plain = re.sub(r"\\frac(\w)(\w)", r"\\frac{\1}{\2}", plain)
    plain = re.sub(r"\\sqrt(\w)", r"\\sqrt{\1}", plain)
    plain = re.sub(r"^(-?\d+)/(\d+)$", r"\\frac{\1}{\2}", plain)
    plain = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", plain)
    plain = re.sub(r"(?<!\d)\.(?=\d)", "0.", plain)
    return "\\frac{1}{2}" if plain == "0.5" else plain


def shared_words(found: str, answer: str) -> float:
    """F1 of the words of two texts, without case, articles and punctuation.

    >>> shared_words("The 12 apples", "12 apples."), shared_words("13 apples", "12 apples")
    (1.0, 0.0)
    """
    ours, theirs = _words(found), _words(answer)
    if not ours or not theirs:
        return float(ours == theirs)
    numbers = {word for word in theirs if word.replace(".", "").isdigit()}
    if numbers and not numbers & set(ours):
        return 0.0
    common = sum((Counter(ours) & Counter(theirs)).values())
    return 2 * common / (len(ours) + len(theirs))


def _words(text: str) -> list[str]:
    spaced = _ARTICLES.sub(" ", re.sub(r"[-\s]", " ", text.lower()))
    bare = (word.strip(string.punctuation) for word in spaced.split())
    return [word for word in bare if word]


# What lm-evaluation-harness calls, by the names in the task files.


def load(part: str, repository: str | None = None, **_others: Any) -> dict[str, Any]:
    """The documents of one task, as ``custom_dataset`` wants them: all columns typed, none cast."""
    import datasets
    import pyarrow as pa

    text, texts = pa.string(), pa.list_(pa.string())
    types: dict[str, Any] = {
        "item_id": text, "benchmark": text, "subset": text, "question": text, "context": text,
        "choices": texts, "answer_text": text, "source_record": text,
        "query": text, "options": texts, "gold": pa.int64(), "target": text, "answers": texts,
    }  # fmt: skip
    rule = sources()["parts"][part]
    docs = list(_docs(part_rows(rule, repository), rule))
    table = pa.Table.from_pylist(docs, schema=pa.schema(list(types.items())))
    loaded: dict[str, Any] = datasets.DatasetDict({"test": datasets.Dataset(table)})
    return loaded


def _docs(rows: Iterable[Row], part: Rule) -> Iterator[dict[str, Any]]:
    for row in rows:
        answers = accepted(row, part)
        target = ending(row) if part["scoring"] == "blank" else (answers or [""])[0]
        made = {"query": query(row, part), "options": options(row, part), "target": target}
        yield {**row, **made, "answers": answers, "gold": row["answer_index"]}


def judge(doc: Row, results: Sequence[str], scoring: str) -> dict[str, float]:
    """The score of one reply under one filter."""
    reply = results[0]
    if scoring == "f1":
        exact = max(float(_words(reply) == _words(answer)) for answer in doc["answers"])
        return {"em": exact, "f1": score(scoring, reply, doc["answers"])}
    return {"exact_match": score(scoring, reply, doc["answers"])}


judge_number = partial(judge, scoring="number")
judge_mathematics = partial(judge, scoring="mathematics")
judge_letter_in_text = partial(judge, scoring="letter_in_text")
judge_exact = partial(judge, scoring="exact")
judge_literal = partial(judge, scoring="literal")
judge_f1 = partial(judge, scoring="f1")


def judge_emotions(doc: Row, results: Sequence[str]) -> dict[str, float]:
    """Score for the rule ``emotions``, as lm-evaluation-harness has it."""
    harness = import_module("lm_eval.tasks.eq_bench.utils")
    key = {"reference_answer_fullscale": doc["answer_text"]}
    scores: dict[str, float] = harness.calculate_score_fullscale(key, results)
    return scores


def judge_instructions(doc: Row, results: Sequence[str]) -> dict[str, float]:
    """Score for the rule ``instructions``, as lm-evaluation-harness with its extra ``ifeval``."""
    harness = import_module("lm_eval.tasks.ifeval.utils")
    scores = harness.process_results(json.loads(doc["source_record"]), results)
    return {
        name: float(scores[name]) for name in ("prompt_level_strict_acc", "prompt_level_loose_acc")
    }
