"""Text to token ids and back: one token per byte, or one token per word.

Both have ids 0 … 255 for the 256 bytes, then three special tokens. The word tokenizer continues
with its words, and spells everything else in bytes, so it can encode any text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import pairwise
from typing import Any, TypeGuard

from posenc._arguments import _shown, as_choice, as_flag, as_integer

BYTES = 256
SPECIAL_TOKENS = ("<pad>", "<bos>", "<eos>")  # padding, beginning of sequence, end of sequence
PAD, BOS, EOS = range(BYTES, BYTES + len(SPECIAL_TOKENS))
FIRST_WORD = BYTES + len(SPECIAL_TOKENS)

# The words of the demonstrations, and the most common short words of English.
WORDS = tuple(
    re.findall(
        r"\w+",
        """
        a about after again all also an and animal any are as at attention back bank be because bed
        been before big bird bites black book boy but by cat cats chased come could day did
        different do dog dogs down each eats encoding even every fast few first fish floor for found
        from garden get girl give go good great had has have he her here him his house how i if in
        into is it its jumped just know large last learn like little long look made make man many
        mat may me model more most mouse much my never new next no not now of off old on one only or
        order other our out over people place play position ran red river run said same sat saw say
        see sentence she sleeps slow small so some still such take than that the their them then
        there these they thing think this time to tree two under up us use very walk was water way
        we well went were what when where which white who will with without woman word words work
        world would year you young your
        """,
    )
)


class ByteTokenizer:
    """One token per byte of the text in UTF-8: the id is the byte.

    Decoding returns every text exactly, in any language, at the cost of long sequences.

    Attributes:
        vocab_size: how many ids there are: 256 bytes and 3 special tokens, 259.
        pad_id: pads a shorter sequence, 256.
        bos_id: begins a sequence, 257.
        eos_id: ends a sequence, 258.

    Source:
        Xue et al., "ByT5: Towards a Token-Free Future with Pre-trained Byte-to-Byte Models"
        (2022), section 3.1; the special tokens' ids are our own.

    Examples:
        >>> ByteTokenizer().encode("né")
        [110, 195, 169]
        >>> ByteTokenizer().decode([110, 195, 169])
        'né'
    """

    vocab_size: int = FIRST_WORD
    pad_id, bos_id, eos_id = PAD, BOS, EOS

    def encode(self, text: str, add_special_tokens: bool = False) -> list[int]:
        """Return the ids of a text.

        Args:
            text: any string that UTF-8 can encode.
            add_special_tokens: whether the sequence begins with `bos_id` and ends with `eos_id`.

        Returns:
            A list of integers below `vocab_size`; empty for the empty text.

        Raises:
            TypeError: `text` is not a string, or `add_special_tokens` is not True or False.
            ValueError: `text` contains a lone surrogate, which UTF-8 cannot encode.

        Examples:
            >>> ByteTokenizer().encode("cat", add_special_tokens=True)
            [257, 99, 97, 116, 258]
        """
        ids = self._encode(_as_text(text))
        return [BOS, *ids, EOS] if as_flag("add_special_tokens", add_special_tokens) else ids

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of these ids, without special tokens.

        Args:
            ids: integers from 0 to `vocab_size` − 1, in a list, an array or a tensor of one
                axis.

        Returns:
            The text, with � (U+FFFD) for bytes that are not valid UTF-8, which a model may
            produce.

        Raises:
            TypeError: `ids` is not a sequence of integers.
            ValueError: an id is outside the vocabulary.

        Examples:
            >>> ByteTokenizer().decode([257, 99, 97, 116, 258])
            'cat'
        """
        return self._decode([i for i in self._checked_ids(ids) if not BYTES <= i < FIRST_WORD])

    def _encode(self, text: str) -> list[int]:
        """Return the ids of a text that has been checked."""
        return list(text.encode())

    def _decode(self, ids: list[int]) -> str:
        """Return the text of ids that are in the vocabulary and not special."""
        return bytes(ids).decode(errors="replace")

    def _checked_ids(self, ids: Iterable[int]) -> Iterator[int]:
        """Yield each id as an int, checked to be in the vocabulary."""
        allowed = f"integers from 0 to {self.vocab_size - 1}"
        try:
            listed = ids.tolist() if hasattr(ids, "tolist") else ids  # keeps booleans
        except (TypeError, RuntimeError):  # a class, or a tensor without readable values
            listed = None
        if not _is_sequence(listed):
            raise TypeError(f"ids must be {allowed}, in a sequence; got {_shown(ids)}")
        for value in listed:
            number = as_integer("ids", value, least=0)
            if number >= self.vocab_size:
                raise ValueError(f"ids must be {allowed}; got {number}")
            yield number


class WordTokenizer(ByteTokenizer):
    """One token per known word, ignoring case; everything else is spelled in bytes.

    The text is lowercased and split into words (runs of letters, digits and underscores) and the
    single characters between them. A known word is one token. Unknown words, punctuation, spaces
    and newlines become their bytes. One rule keeps sequences short: a single space between two
    known words is omitted, and decoding inserts a space between adjacent words. So
    `decode(encode(text))` is `text.lower()` for every text.

    Args:
        words: the known words, lowercase and without duplicates; their ids start at 259.

    Attributes:
        words: the known words, a tuple.
        vocab_size: how many ids there are: 259 plus the number of words.
        pad_id: pads a shorter sequence, 256.
        bos_id: begins a sequence, 257.
        eos_id: ends a sequence, 258.

    Raises:
        TypeError: `words` is not a sequence of strings.
        ValueError: a string is not a word as defined above, or is repeated.

    Source:
        Spelling unknown words in bytes is the option byte_fallback of SentencePiece, the program
        of Kudo and Richardson (2018); the rule about spaces is our own.

    Examples:
        >>> tokenizer = WordTokenizer(["cat", "sat", "the"])
        >>> tokenizer.encode("The cat sat")
        [261, 259, 260]
        >>> tokenizer.encode("The ox")  # a word, then ' ', 'o' and 'x'
        [261, 32, 111, 120]
        >>> tokenizer.decode([261, 259, 260, 33])
        'the cat sat!'
    """

    def __init__(self, words: Iterable[str]) -> None:
        self.words = _as_words(words)
        self.vocab_size = FIRST_WORD + len(self.words)
        self._ids = {word: number for number, word in enumerate(self.words, FIRST_WORD)}

    def _encode(self, text: str) -> list[int]:
        """Return the ids of a text, without the spaces that decoding inserts."""
        pieces = _pieces(text)
        around = zip(["", *pieces], pieces, [*pieces[1:], ""], strict=False)
        kept = [
            piece
            for before, piece, after in around
            if not (piece == " " and before in self._ids and after in self._ids)
        ]
        return [i for piece in kept for i in self._word_or_bytes(piece)]

    def _word_or_bytes(self, piece: str) -> list[int]:
        """Return the id of a known word, or the bytes of anything else."""
        return [self._ids[piece]] if piece in self._ids else list(piece.encode())

    def _decode(self, ids: list[int]) -> str:
        """Return the text of ids, with a space between adjacent words."""
        text = b""
        for before, here in pairwise([0, *ids]):
            space = b" " if min(before, here) >= FIRST_WORD else b""
            text += space + (bytes([here]) if here < BYTES else self._word(here).encode())
        return text.decode(errors="replace")

    def _word(self, number: int) -> str:
        """Return the word of an id."""
        return self.words[number - FIRST_WORD]


def create_tokenizer(
    kind: str = "simple", texts: Iterable[str] | None = None
) -> ByteTokenizer | WordTokenizer:
    """Return a tokenizer by name.

    Args:
        kind: "simple", one token per known word, or "byte", one token per byte.
        texts: for "simple", texts whose words become the vocabulary, in alphabetical order; None
            for a small built-in vocabulary. The model needs a `vocab_size` of at least the
            tokenizer's.

    Returns:
        A `WordTokenizer` or a `ByteTokenizer`.

    Raises:
        TypeError: `kind` is not a string, or `texts` is not a sequence of strings.
        ValueError: `kind` is unknown, or `texts` are given with "byte", which has no vocabulary.

    Source:
        See the two classes.

    Examples:
        >>> tokenizer = create_tokenizer("simple")
        >>> len(tokenizer.encode("The cat sat on the mat"))
        6
        >>> tokenizer.decode(tokenizer.encode("The cat sat, then slept."))
        'the cat sat, then slept.'
    """
    if as_choice("kind", kind, ("simple", "byte")) == "byte":
        if texts is not None:
            raise ValueError(f'texts must be None when kind is "byte"; got {_shown(texts)}')
        return ByteTokenizer()
    if texts is None:
        return WordTokenizer(WORDS)
    pieces = {piece for text in _as_texts("texts", texts) for piece in _pieces(text)}
    return WordTokenizer(sorted(piece for piece in pieces if _is_word(piece)))


def _pieces(text: str) -> list[str]:
    """Return a text lowercased and split into words and the characters between them."""
    return re.findall(r"\w+|\W", text.lower())


def _is_word(piece: str) -> bool:
    """Return whether a piece could be a known word."""
    return re.fullmatch(r"\w+", piece) is not None and piece == piece.lower()


def _as_text(text: object, name: str = "text") -> str:
    """Return `text`, which must be a string that UTF-8 can encode."""
    if not isinstance(text, str):
        raise TypeError(f"{name} must be a string; got {_shown(text)}")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError(f"{name} must not contain a lone surrogate; got {_shown(text)}")
    return text


def _is_sequence(value: object) -> TypeGuard[Iterable[Any]]:
    """Return whether `value` is an ordered iterable other than a string or a mapping."""
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Set | Mapping)


def _as_texts(name: str, texts: object) -> list[str]:
    """Return `texts` as a list of strings."""
    if not _is_sequence(texts):
        raise TypeError(f"{name} must be a sequence of strings; got {_shown(texts)}")
    return [_as_text(text, name) for text in texts]


def _as_words(words: object) -> tuple[str, ...]:
    """Return `words`, each a word as `_pieces` splits them, without duplicates."""
    listed = tuple(_as_texts("words", words))
    for word in listed:
        if not _is_word(word):
            raise ValueError(f"words must be lowercase letters and digits; got {_shown(word)}")
    if len(set(listed)) < len(listed):
        twice = next(word for word in listed if listed.count(word) > 1)
        raise ValueError(f"words must be unique; got {_shown(twice)} again")
    return listed
