"""Listings are the project's own code, found by symbol."""

import textwrap
from pathlib import Path

import pytest

from scripts import DOCS
from scripts.book.render import render
from scripts.book.source_listings import (
    LINE,
    SymbolNotFoundError,
    embedded_symbols,
    listing,
    source,
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    code = '''
        import functools

        LIMIT: int = 3

        @functools.cache
        def counted(n):
            """Return n.

            With more to say.
            """

            return n

        class Box:
            """A box."""

            size = 1

            def open(self):
                """Open it."""
                # Not far.
                return self.size

        class Lid:
            """A lid."""

            # How wide.
            @property
            def width(self):
                return 2

        async def close(): "Close it."
    '''
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "box.py").write_text(textwrap.dedent(code))
    return tmp_path


def test_a_function_comes_with_its_decorators_and_docstring(root: Path) -> None:
    path, code = source("shop.box.counted", root=root)
    assert path == Path("shop/box.py")
    assert code.startswith('@functools.cache\ndef counted(n):\n    """Return n.')
    assert code.endswith("return n")
    assert source("shop.box.LIMIT", root=root)[1] == "LIMIT: int = 3"


WIDTH = "def width(self):\n        return 2"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("counted", "@functools.cache\ndef counted(n):\n    return n"),
        ("Box.open", "def open(self):\n    # Not far.\n    return self.size"),
        (
            "Lid",
            "class Lid:\n    # How wide.\n    @property\n    def width(self):\n        return 2",
        ),
        ("close", 'async def close(): "Close it."'),
    ],
)
def test_the_docstring_can_be_left_out(name: str, code: str, root: Path) -> None:
    assert source(f"shop.box.{name}", root=root, short=True)[1] == code


def test_a_file_of_another_language_comes_whole(root: Path) -> None:
    code = "package box\n\nfunc main() {}"
    (root / "shop" / "box.go").write_text(f"{code}\n")
    assert source("shop.box.go", root=root) == (Path("shop/box.go"), code)
    with pytest.raises(SymbolNotFoundError):
        source("shop.lid.go", root=root)


@pytest.mark.parametrize("symbol", ["shop.box.gone", "shop.box.Box.gone", "gone.box.Box", "box"])
def test_a_symbol_that_is_gone_is_an_error(symbol: str, root: Path) -> None:
    with pytest.raises(SymbolNotFoundError):
        source(symbol, root=root)


def test_a_page_shows_the_file_that_the_code_is_from() -> None:
    html = render("--src-- posenc.frequency.wavelengths nodoc\n")
    assert '<span class="filename">posenc/frequency.py</span>' in html
    assert "--src--" not in html


def test_the_first_chapter_embeds_the_code_it_describes() -> None:
    symbols = embedded_symbols((DOCS / "chapters" / "by-hand" / "code.md").read_text("utf-8"))
    assert "posenc.embeddings.sinusoidal.PositionalEncoding" in symbols
    assert {str(source(symbol)[0]) for symbol in symbols} == {
        "posenc/frequency.py",
        "posenc/embeddings/sinusoidal.py",
    }


@pytest.mark.parametrize(
    ("name", "imports"),
    [
        ("counted", "import functools\n\n\n@functools.cache"),
        ("LIMIT", "LIMIT"),
        ("box", "from os import path as place\n\n\ndef box"),
    ],
)
def test_a_listing_can_have_the_imports_that_it_uses(name: str, imports: str, root: Path) -> None:
    with (root / "shop" / "box.py").open("a") as file:
        file.write("from os import path as place, sep\nimport re\n\ndef box(): return place.sep")
    assert source(f"shop.box.{name}", imports=True, root=root)[1].startswith(imports)


# The pages that tell readers to copy their listings. Other pages show how a function works, with
# links to what it uses.
COPIED = ["diagnose/index.md", "diagnose/long-sequences.md", "extend-a-context.md"]


@pytest.mark.parametrize("path", COPIED)
def test_copied_listings_define_their_functions_without_an_error(path: str) -> None:
    """Annotations, defaults and decorators are evaluated as soon as a function is defined."""
    found = LINE.finditer((DOCS / "how-to" / path).read_text("utf-8"))
    names: dict[str, object] = {}
    for line in found:
        exec(compile(listing(line)[1], line["symbol"], "exec", dont_inherit=True), names)
        assert line["symbol"].rpartition(".")[2] in names
    assert names
