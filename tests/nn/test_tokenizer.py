"""Tokenizers decode what they encode, and every id is in the vocabulary of the model."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from posenc.nn import GPTModel, create_model_config
from posenc.nn.tokenizer import WORDS, ByteTokenizer, WordTokenizer, create_tokenizer

quick = settings(database=None, deadline=None, derandomize=True, max_examples=150)
texts = st.text(st.characters(codec="utf-8"))
# Known and unknown words, spaces and punctuation in any order, to test the rule about spaces.
pieces = st.sampled_from(["the", "cat", "ox", "CAT", "c", " ", "  ", "\n", ",", "!", "_", "é", "7"])
sentences = st.lists(pieces).map("".join)

SIMPLE = create_tokenizer("simple")
DEMONSTRATION = (
    "The cat sat on the mat",
    "The mat sat on the cat",
    "Cat the sat mat on the",
)


@pytest.mark.parametrize(("kind", "name"), [("simple", "tiny"), ("byte", "byte")])
def test_each_tokenizer_has_a_model_that_knows_all_its_ids(kind: str, name: str) -> None:
    tokenizer, config = create_tokenizer(kind), create_model_config(name)
    assert tokenizer.vocab_size <= config["vocab_size"]
    model = GPTModel(**config).eval()
    last = torch.tensor([[tokenizer.vocab_size - 1]])
    assert model(last).shape == (1, 1, config["vocab_size"])


# Word by word


def test_demonstration_sentences_are_the_same_words_in_three_orders() -> None:
    tokenizer = create_tokenizer("simple")
    ids = [tokenizer.encode(text, add_special_tokens=False) for text in DEMONSTRATION]
    assert [len(each) for each in ids] == [6, 6, 6]
    assert sorted(ids[0]) == sorted(ids[1]) == sorted(ids[2])
    assert len(set(map(tuple, ids))) == 3
    assert max(map(max, ids)) < tokenizer.vocab_size
    assert [tokenizer.decode(each) for each in ids] == [text.lower() for text in DEMONSTRATION]


@pytest.mark.slow
@quick
@given(text=st.one_of(texts, sentences))
@example("İstanbul ΣΑΣ ẞ ǅ")
@example("the  cat , the\tcat\r\nthe_cat the7 \u00a0the\u2028cat")
@example("<eos> the <bos>")
def test_decoding_returns_the_lowercase_text(text: str) -> None:
    ids = SIMPLE.encode(text)
    assert SIMPLE.decode(ids) == text.lower()
    assert all(0 <= i < SIMPLE.vocab_size for i in ids)
    assert not {SIMPLE.pad_id, SIMPLE.bos_id, SIMPLE.eos_id} & set(ids)


@pytest.mark.slow
@quick
@given(known=st.lists(texts, max_size=3), text=texts)
def test_any_vocabulary_round_trips_any_text(known: list[str], text: str) -> None:
    tokenizer = create_tokenizer("simple", known)
    for one in (*known, text, " ".join(known)):
        assert tokenizer.decode(tokenizer.encode(one)) == one.lower()


@quick
@given(words=st.lists(st.sampled_from(WORDS), max_size=12))
def test_known_words_with_single_spaces_are_one_token_each(words: list[str]) -> None:
    assert len(SIMPLE.encode(" ".join(words))) == len(words)


def test_vocabulary_is_the_sorted_words_of_its_texts() -> None:
    tokenizer = create_tokenizer("simple", ["The cat, the cat!", "A dog's dinner"])
    assert isinstance(tokenizer, WordTokenizer)
    assert tokenizer.words == ("a", "cat", "dinner", "dog", "s", "the")
    assert tokenizer.vocab_size == 259 + 6
    assert tokenizer.encode("THE CAT") == [264, 260]


def test_unknown_words_are_spelled_in_bytes() -> None:
    tokenizer = WordTokenizer(["the"])
    assert tokenizer.encode("the Ox") == [259, *b" ox"]
    assert tokenizer.encode("ox the") == [*b"ox ", 259]
    assert tokenizer.encode("é") == [0xC3, 0xA9]


def test_a_space_is_omitted_between_known_words_only() -> None:
    tokenizer = WordTokenizer(["cat", "the"])
    assert tokenizer.encode("the cat") == [260, 259]
    assert tokenizer.encode("the  cat") == [260, 32, 32, 259]
    assert tokenizer.encode("the, cat") == [260, 44, 32, 259]
    assert tokenizer.encode(" the cat ") == [32, 260, 259, 32]
    assert tokenizer.encode("the\ncat") == [260, 10, 259]
    assert tokenizer.decode([260, 259, 260]) == "the cat the"


def test_known_words_inside_longer_words_are_not_matched() -> None:
    assert WordTokenizer(["cat"]).encode("cats concat") == list(b"cats concat")


def test_built_in_vocabulary_has_no_duplicates() -> None:
    assert list(WORDS) == sorted(set(WORDS))
    assert all(re.fullmatch("[a-z]+", word) for word in WORDS)
    assert {word for text in DEMONSTRATION for word in text.lower().split()} <= set(WORDS)
    assert create_tokenizer("simple").vocab_size == 259 + len(WORDS)


# Byte by byte


@quick
@given(text=texts)
def test_bytes_round_trip_any_text(text: str) -> None:
    tokenizer = create_tokenizer("byte")
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert tokenizer.encode(text) == list(text.encode("utf-8"))
    assert tokenizer.vocab_size == 259


# Both


@pytest.mark.parametrize("kind", ["simple", "byte"])
def test_special_tokens_are_added_on_request_and_decode_to_nothing(kind: str) -> None:
    tokenizer = create_tokenizer(kind)
    ids = tokenizer.encode("the cat", add_special_tokens=True)
    assert ids == [257, *tokenizer.encode("the cat"), 258]
    assert tokenizer.decode([256, 256, *ids, 256]) == "the cat"
    assert (tokenizer.pad_id, tokenizer.bos_id, tokenizer.eos_id) == (256, 257, 258)


@pytest.mark.parametrize("kind", ["simple", "byte"])
def test_the_empty_text_has_no_ids(kind: str) -> None:
    tokenizer = create_tokenizer(kind)
    assert tokenizer.encode("") == []
    assert tokenizer.encode("", add_special_tokens=True) == [257, 258]
    assert tokenizer.decode([]) == ""


@pytest.mark.parametrize("kind", ["simple", "byte"])
def test_ids_may_be_a_tensor_an_array_or_an_iterator(kind: str) -> None:
    tokenizer = create_tokenizer(kind)
    ids = tokenizer.encode("the cat sat.")
    for given_ids in (tuple(ids), np.array(ids), torch.tensor(ids), iter(ids), map(np.int64, ids)):
        assert tokenizer.decode(given_ids) == "the cat sat."  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["simple", "byte"])
def test_invalid_utf8_decodes_to_replacement_characters(kind: str) -> None:
    assert create_tokenizer(kind).decode([0xC3, 0x28]) == "\ufffd("


@quick
@given(ids=st.lists(st.integers(0, SIMPLE.vocab_size - 1)))
def test_any_ids_of_the_vocabulary_can_be_decoded(ids: list[int]) -> None:
    assert isinstance(SIMPLE.decode(ids), str)


def test_each_call_returns_a_new_list_of_ids() -> None:
    tokenizer = create_tokenizer("simple")
    tokenizer.encode("the cat").clear()
    assert len(tokenizer.encode("the cat")) == 2


# What is refused


@pytest.mark.parametrize("kind", ["simple", "byte"])
def test_lone_surrogates_are_refused(kind: str) -> None:
    message = r"^text must not contain a lone surrogate; got '\\ud800' \(str\)$"
    with pytest.raises(ValueError, match=message):
        create_tokenizer(kind).encode("\ud800")


def test_an_id_equal_to_vocab_size_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^ids must be integers from 0 to 258; got 259$"):
        ByteTokenizer().decode([259])
    with pytest.raises(ValueError, match=r"^ids must be integers from 0 to 259; got 260$"):
        WordTokenizer(["cat"]).decode([259, 260])


def test_the_byte_tokenizer_refuses_texts() -> None:
    with pytest.raises(ValueError, match=r'^texts must be None when kind is "byte"; got '):
        create_tokenizer("byte", ["the cat"])
