"""Right C is never refuted, whatever options it is compiled with, and most of it is proved."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from setwise.analysis.code.objects import ObjectError, load
from setwise.analysis.proof.prover import Prover
from tests.analysis.proof.programs import contract
from tests.conftest import require_module, require_tool

require_module("bitwuzla")

SPECS = {
    "pair": "sliders.pair",
    "one": "kogge-stone.attacks.nort",
    "boards": "kogge-stone.attacks.nort.batch",
    "any": "kogge-stone.attacks.any",
}
WIDE = "-O3 -march=x86-64-v4 -mprefer-vector-width=512"
GCC = f"""-O0|-O2|-O3|-Os|-O3 -march=icelake-server|{WIDE}
-O3 -march=skylake-avx512 --param vect-partial-vector-usage=1|-O2 -fstack-check|-O2 -fstack-clash-protection
-O2 -mstackrealign|-O2 -fPIC|-O3 -mtune=bdver4 -mavx|-O3 -march=silvermont|-O3 -fprefetch-loop-arrays
-O3 -march=haswell -funroll-all-loops|-O2 -mno-red-zone -fno-omit-frame-pointer
-O2 -ftrivial-auto-var-init=pattern|-O2 -fno-jump-tables -fcf-protection=full"""
CLANG = """-O0|-O2|-O3|-Oz|-O3 -march=sapphirerapids|-O3 -march=znver4
-O3 -march=skylake -mllvm -force-vector-interleave=4|-O2 -mspeculative-load-hardening|-O2 -mretpoline
-O2 -fsanitize=undefined -fsanitize-trap=all
-O3 -march=sapphirerapids -mllvm -prefer-predicate-over-epilogue=predicate-dont-vectorize
-O3 -march=haswell -mllvm -enable-epilogue-vectorization"""
MOST_UNPROVED = {"gcc": 8, "clang-19": 9}


@pytest.mark.slow
@pytest.mark.parametrize(("compiler", "ways"), [("gcc", GCC), ("clang-19", CLANG)])
def test_what_compilers_make_is_not_refuted(compiler: str, ways: str, tmp_path: Path) -> None:
    statuses = Counter[str]()
    for options in ways.replace("\n", "|").split("|"):
        made = tmp_path / "options.o"
        words = [require_tool(compiler), *options.split(), "-c", str(Path(__file__).with_name("options.c"))]
        subprocess.run([*words, "-o", str(made)], check=True)
        for name, spec in SPECS.items():
            try:
                certificate = Prover().prove(load(made, name), contract(spec, "sysv", 1))
            except ObjectError as error:
                statuses["refused"] += 1
                print(f"{options}: {name}: {error}")
            else:
                statuses[certificate.status] += 1
                assert certificate.status != "refuted", f"{options}: {name}: {certificate.reason}"
                if certificate.reason:
                    print(f"{options}: {name}: {certificate.reason}")
    assert statuses["refused"] + statuses["not proved"] <= MOST_UNPROVED[compiler], statuses
