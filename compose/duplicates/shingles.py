"""Shingles: a text as the set of its pairs of neighbouring words, to tell how alike texts are."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

_BREAK = "\u2063"  # an invisible sign; no pair reaches across it
_SPACES = (
    r"[\t-\r\x{1c}-\x{1f}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}"
    r"\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]"
)
_SIGNS = r"([^\pL\pN\pM_ ])"
_MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


@dataclass(frozen=True, slots=True, eq=False)
class ShingleSets:
    """The sets of n texts, one after the other."""

    hashes: NDArray[np.uint64]
    """A hash a shingle, of 64 bits less those that number the texts; rising and without repeats
    inside a text. Among a million texts of 50 shingles, two share one by chance in one pair of
    texts out of 7e9."""
    starts: NDArray[np.int64]
    """(n + 1,): where each text's set begins, and the last one ends."""

    @property
    def sizes(self) -> NDArray[np.int64]:
        """(n,): shingles of each text."""
        return np.diff(self.starts)

    def jaccard(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.float64]:
        """Jaccard index of pairs of texts: what they share, as a share of what either has.

        Args:
            first: (k,) positions of texts with at least one shingle.
            second: (k,) as ``first``.
        """
        shared = np.empty(len(first), dtype=np.int64)
        for start in range(0, len(first), _PAIRS):
            part = slice(start, start + _PAIRS)
            shared[part] = self._shared(first[part], second[part])
        sizes = self.sizes
        return shared / (sizes[first] + sizes[second] - shared)

    def _shared(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
        """Put both sets of each pair side by side: what is shared stands twice."""
        rows, owner = self._elements(np.concatenate([first, second]))
        pair = owner % len(first)
        values = self.hashes[rows]
        order = np.lexsort((values, pair))
        pair, values = pair[order], values[order]
        twice = (pair[1:] == pair[:-1]) & (values[1:] == values[:-1])
        return np.bincount(pair[1:][twice], minlength=len(first))

    def _elements(self, texts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        sizes = self.sizes[texts]
        owner = np.repeat(np.arange(len(texts)), sizes)
        offset = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return self.starts[texts][owner] + offset, owner


_PAIRS = 1 << 16


def shingle_sets(parts: list[pa.ChunkedArray]) -> ShingleSets:
    """Take texts apart into sets of shingles.

    Words are runs of letters, digits and marks; any other sign is a word of its own, so that
    ``2 + 3`` differs from ``2 - 3``. Case, forms of characters (NFKC) and white space do not
    matter. A part of a single word is a shingle itself.

    Args:
        parts: columns of text, or of lists of texts, row by row; shingles stay within one text.
    """
    columns = [
        pc.fill_null(pc.binary_join(part, _BREAK) if pa.types.is_list(part.type) else part, "")
        for part in parts
    ]
    text = pc.binary_join_element_wise(*columns, _BREAK)
    text = pc.utf8_lower(pc.utf8_normalize(text, form="NFKC"))
    text = pc.replace_substring_regex(text, _SPACES, " ")
    text = pc.replace_substring_regex(text, _SIGNS, r" \1 ")
    # Not utf8_split_whitespace: it reads past the end of a text that ends in two spaces.
    lists = pc.split_pattern(text, " ").combine_chunks()
    encoded = lists.flatten().dictionary_encode()
    words = encoded.dictionary.to_pylist()
    codes, starts = encoded.indices.to_numpy(), lists.offsets.to_numpy()
    if "" in words:
        filled = codes != words.index("")
        starts = np.append(0, np.cumsum(filled))[starts]
        codes = codes[filled]
    breaks = codes == (words.index(_BREAK) if _BREAK in words else -1)
    return _sets(_word_hashes(words)[codes], breaks, starts.astype(np.int64))


def _word_hashes(words: list[str]) -> NDArray[np.uint64]:
    digests = b"".join(hashlib.blake2b(word.encode(), digest_size=8).digest() for word in words)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def _sets(
    words: NDArray[np.uint64], breaks: NDArray[np.bool_], starts: NDArray[np.int64]
) -> ShingleSets:
    """Pair each word with the next one of its part, and sort and thin out each text's pairs."""
    count = len(words)
    opens = np.zeros(count + 1, dtype=bool)
    opens[starts] = True
    ends = opens[1:] | np.append(breaks[1:], True)  # no word of the same part follows
    begins = opens[:-1] | np.insert(breaks[:-1], 0, True)[:count]
    following = np.append(words[1:], np.uint64(0))[:count]
    following = np.where(ends, np.uint64(0), following)
    kept = ~breaks & (~ends | begins)
    owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))[kept]
    mixed = _mixed(words[kept] * _MIX[0] + following[kept])
    bits = np.uint64(max(len(starts) - 1, 1).bit_length())
    # One number for text and shingle together: sorting those is ten times as fast as two keys.
    keys = np.sort((owner.astype(np.uint64) << (np.uint64(64) - bits)) | (mixed >> bits))
    keys = keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]]
    sizes = np.bincount(
        (keys >> (np.uint64(64) - bits)).astype(np.int64), minlength=len(starts) - 1
    )
    return ShingleSets(
        keys << bits >> bits, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    )


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread every bit over all others (the finish of splitmix64)."""
    values = (values ^ (values >> np.uint64(30))) * _MIX[1]
    values = (values ^ (values >> np.uint64(27))) * _MIX[2]
    return values ^ (values >> np.uint64(31))
