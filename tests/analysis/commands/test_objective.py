"""--for and --variant: the same kernel by either, in listings, counts and exports; what does not go is one line."""

import json
import pickle
from functools import partial
from pathlib import Path

import pytest

import setwise
from setwise.analysis import api
from setwise.analysis.bench import here
from setwise.analysis.code.binary import binary_of
from setwise.analysis.commands.main import main
from setwise.analysis.progress import Progress
from setwise.codegen.catalogue import find
from setwise.codegen.export.names import SLOW_PEXT
from setwise.codegen.variants import variant_named
from tests.analysis.commands.running import complaint, printed

NAME = ("leapers.knights", "--isa", "avx2")
FAST = ("--for", "latency", "--cpu", "ice-lake")
VARIANT = "scalar"


def test_a_listing_names_its_variant(capsys: pytest.CaptureFixture[str]) -> None:
    first = printed(capsys, "listing", *NAME, *FAST)
    words = first.split("made by")[1].replace("\n;", " ").split()  # a long line is folded
    made_by = words[: words.index("--syntax") + 2]
    assert VARIANT in made_by
    assert printed(capsys, *made_by[1:]) == first


@pytest.mark.parametrize(
    ("module", "words"), [("kernels", ("listing", *NAME, *FAST)), ("best", ("best", *NAME, *FAST))]
)
def test_the_variants_that_are_tried_are_shown(
    module: str, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(f"setwise.analysis.commands.{module}.Progress", partial(Progress, shown=True))
    assert main(words) == 0
    assert f"{NAME[0]} avx2: default" in capsys.readouterr().err


def test_what_is_slow_on_some_processors_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    west = ("push.attacks.west", "--isa", "bmi2")
    for command in ("listing", "cost"):
        shortest, usual = printed(capsys, command, *west, "--for", "size"), printed(capsys, command, *west)
        assert [" pext " in text for text in (shortest, usual)] == [True, False]
        assert [SLOW_PEXT in text for text in (shortest, usual)] == [True, False]


def test_an_export_is_made_again_with_its_variant(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert main(["export", *NAME, "--variant", VARIANT, "--format", "gas", "-o", str(out)]) == 0
    assert json.loads((out / "metadata.json").read_text())["request"]["variants"] == [[NAME[0], "avx2", VARIANT]]
    assert main(["verify", str(out)]) == 0
    capsys.readouterr()
    (row,) = json.loads(printed(capsys, "count", *NAME, "--variant", VARIANT, "--json"))
    assert f" {row['instructions']} instructions" in "".join(file.read_text() for file in out.glob("*.s"))


def test_a_variant_is_proved_and_checked(capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = json.loads(printed(capsys, "prove", *NAME, "--variant", VARIANT, "--abi", "sysv", "--json"))
    made = variant_named(VARIANT, find(NAME[0]), "avx2")
    assert (row["status"], row["sha256"]) == ("proved", binary_of(made).sha256)
    assert main(["check", *NAME, "--variant", VARIANT, "--abi", "sysv", "--quick"]) == 0
    assert "leapers.knights for avx2 has no variant '9'" in complaint(capsys, "prove", *NAME, "--variant", "9")
    assert "belongs to an instruction set: add --isa" in complaint(capsys, "prove", NAME[0], "--variant", VARIANT)


def test_a_processor_that_is_not_known_is_told_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("setwise.analysis.bench.here.processor_here", lambda: None)
    with pytest.raises(
        ValueError, match=r"there is no cost model of this processor \(.+\): the nearest is .+, --cpu [\w-]+$"
    ):
        here.processor_named("native")


def test_a_processor_is_known_whatever_it_is_for() -> None:
    with pytest.raises(ValueError, match="unknown processor 'zen9'"):
        api.request(NAME[0], cpu="zen9")


def test_a_function_for_latency_gives_the_same() -> None:
    usual, fast = (setwise.kernel(NAME[0], "avx2", for_=objective, cpu="ice-lake") for objective in ("size", "latency"))
    assert fast.kernel.variant == VARIANT
    assert fast(0x8100) == pickle.loads(pickle.dumps(fast))(0x8100) == usual(0x8100)
