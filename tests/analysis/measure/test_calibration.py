"""`setwise calibrate`: a core that is known is found again by timing it, and differences from its table are told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from setwise.analysis.code.decode import decode
from setwise.analysis.code.kernel import binary_of
from setwise.analysis.cost.processors import CostRow, Processor, processor
from setwise.analysis.cost.processors.measured import MeasuredTable, processor_of
from setwise.analysis.cost.processors.table import forms as spellings
from setwise.analysis.measure.calibration import calibrate
from setwise.analysis.measure.forms import Form, forms
from setwise.analysis.measure.ports import Mix, fit, solved
from setwise.analysis.measure.rows import differences, table_of
from setwise.analysis.measure.steady import Experiment
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower
from setwise.codegen.machine.code import general
from setwise.codegen.machine.processors import FEATURES
from setwise.codegen.run.executable import runnable
from tests.analysis.measure.known_core import measured_on

ZEN3, FEW = processor("zen3"), {"and r,r", "shl r,i", "pext r,r,r", "cmp r,r", "sete b", "vpand y,y,y", "vpsllq x,x,i"}
FEW |= {"vpcmpgtd =x,x,x", "vpinsrq x,x,r,i", "vpextrq r,x,i", "vptest x,x", "adc r,r", "mov r,r", "vpbroadcastq x,m64"}


def table(core: Processor, like: Processor | None, names: set[str] = FEW) -> MeasuredTable:
    with measured_on(core, FEATURES[core.name]):
        wanted = [form for form in forms() if form.title in names]
        made, missing = table_of(calibrate(lambda _: None, wanted, patience=0), "A core", "2026-11-22", like)
    assert not names & {*missing}
    return made


def test_a_core_that_is_as_its_table_says_differs_in_nothing() -> None:
    made = table(ZEN3, ZEN3)
    assert [*differences(made, ZEN3)] == []
    assert made.forwards == {"rs": 9, "ss": 9, "sr": 6, "xx": 9, "xr": 6, "yy": 10, "yr": 7}
    rows = {(row.mnemonics[0], row.form): row for row in made.rows}
    assert rows["pext", "r"].latency == {"r": 3}
    assert rows["vpinsrq", "xri"].latency == {"x": 1, "r": 5}
    assert rows["adc", "r"].cycles is None
    assert rows["vpcmpgtd", "x="].breaks
    assert set(rows["sete", "b"].mnemonics) > {"sete", "setne"}


@pytest.mark.parametrize(
    ("name", "title", "slower"), [("zen3", "vpand y,y,y", 1.045), ("golden-cove", "vporq z,z,z", 1.2)]
)
def test_what_a_loop_or_a_clock_adds_is_no_slot(name: str, title: str, slower: float) -> None:
    core = processor(name)
    with measured_on(core, FEATURES[name]):
        calibration = calibrate(lambda _: None, [form for form in forms() if form.title == title], patience=0)
    among = calibration.forms[title].among
    assert among is not None
    among[0].figures[:] = [slower * cycles for cycles in among[0].figures]
    made, _ = table_of(calibration, "A core", "2026-11-24", core)
    (row,) = (
        row for row in made.rows if title.startswith(f"{row.mnemonics[0]} ") and row.form[0] == title.split()[1][0]
    )
    assert row.slots == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["zen4", "ice-lake", "golden-cove"])
def test_so_is_one_of_512_bits(name: str) -> None:
    wide = {
        "vpternlogq z,z,z,i",
        "vpermb z,z,z",
        "vextracti64x4 y,z,i",
        "vptestmq k,z,z",
        "kmovq r,k",
        "vpbroadcastq z,r",
    }
    made = table(processor(name), processor(name), wide)
    # What a load takes from a store is 0 where it is not known, which no chain takes.
    assert [one for one in differences(made, processor(name)) if one.mnemonic != "store, load"] == []
    rows = {(row.mnemonics[0], row.form): row for row in made.rows}
    assert rows["vpternlogq", "zi"].clear
    assert ("vptestmq", "kz") not in rows  # no way leads back, so its latency is not known


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "what"),
    [
        (CostRow("and", "r", "I03", 1, ""), {"cycles alone", "ports"}),
        (CostRow("pext", "r", "I1", 4, ""), {"latency from r"}),
        (CostRow("vpand", "y", "F01 + F23", 1, "", issue=2), {"slots", "ports", "cycles alone"}),
        (CostRow("vpcmpgtd", "x=", "F0123", 1, ""), set()),
    ],
)
def test_what_differs_is_told(changed: CostRow, what: set[str]) -> None:
    core = replace(ZEN3, rows=(changed, *ZEN3.rows))
    names = {form.title for form in forms() if form.mnemonic == changed.mnemonics}
    found = [one for one in differences(table(core, ZEN3, names & FEW), ZEN3) if one.mnemonic == changed.mnemonics]
    assert {one.what for one in found} == what


@pytest.mark.slow
def test_a_core_of_which_nothing_is_known_has_ports_of_its_own() -> None:
    made = table(ZEN3, None)
    rows = {(row.mnemonics[0], row.form): row for row in made.rows}
    assert not made.like
    assert made.width == 6
    assert len(rows["and", "r"].ports) == len("u0123")
    assert set(rows["shl", "ri"].ports) < set(rows["and", "r"].ports)
    assert set(rows["pext", "r"].ports) < set(rows["shl", "ri"].ports)
    here = processor_of(made, {})
    stream = decode(bytes.fromhex("4889d048c1e0084821f8c3"))  # mov, shl, and
    assert [here.row(one).latency for one in stream[:3]] == [0, 1, 1]
    assert here.lacking(decode(bytes.fromhex("62f1f548efc2"))) == ("avx512f",)


def test_ports_are_those_that_explain_all_figures() -> None:
    one, two, four = (frozenset(f"I{digit}" for digit in digits) for digits in ("1", "12", "0123"))
    mixes = [
        Mix(1, 0, (), 0.5),
        Mix(1, 2, ((four, 1.0),), 0.75),
        Mix(1, 1, ((two, 1.0),), 1.0),
        Mix(2, 1, ((one, 1.0),), 1.6),  # between 1.5 and 2: ports are not given out with foresight
    ]
    tried = [((ports, 1.0),) for ports in (two, frozenset({"I0", "I3"}), frozenset({"I0", "I1"}))]
    assert fit(1, mixes, 6, tried) == (((two, 1.0),), pytest.approx(0, abs=1e-9))
    assert fit(1, mixes, 6, tried[1:2])[1] > 0.3
    assert fit(1, [Mix(1, 0, (), 9.0)], 6, tried) == ((), 9.0)


def test_ports_of_pairs_are_solved() -> None:
    beside = {
        ("shift", "add"): Mix(1, 2, (), 0.75),
        ("select", "add"): Mix(1, 2, (), 0.75),
        ("select", "shift"): Mix(1, 1, (), 0.5),
        ("or", "add"): Mix(1, 1, (), 0.25),
    }
    found = solved({"add": 0.25, "shift": 0.5, "select": 0.5, "or": 0.25}, beside)
    assert found["shift"] | found["select"] == found["add"]
    assert not found["or"] & found["add"]


def test_forms_are_written_and_decoded_alike() -> None:
    assert len({(form.mnemonic, form.spelt) for form in forms()}) == len(forms())
    assert {form.spelt for form in forms() if form.mnemonic == "lea"} >= {"r[b]", "r[bsd]"}
    shift = Form("vpsllq", ("y", "y", "x"))
    assert (shift.written_places, shift.read_places, shift.spelt) == ((0,), (1, 2), "yx")


@pytest.mark.slow
def test_kernels_take_no_other_forms() -> None:
    """But what goes elsewhere, what moves the stack, and addresses of the code."""
    known = {(mnemonic, form.spelt) for form in forms() for mnemonic in form.mnemonics}
    names = ("sliders.union", "kogge-stone.attacks.queen.batch", "exploding.rook")
    for routine in map(find, names):
        for isa in routine.isas:
            for one in decode(binary_of(lower(routine, isa)).text):
                (*_, spelt) = spellings(one)
                if one.flow == "next" and one.mnemonic not in ("push", "pop") and spelt != "r[p]" and "m" not in spelt:
                    assert (one.mnemonic, spelt) in known


@pytest.mark.skipif(not runnable(), reason="x86-64 code does not run here")
def test_something_is_measured_here() -> None:
    """What it says is the weather's business."""
    (chain,) = [one for one in forms() if one.title == "add r,i"]
    experiment = Experiment((chain.written(lambda *_: general("rbx")),))
    for _ in range(20):
        experiment.run()
    assert experiment.cycles is None or experiment.cycles > 0
