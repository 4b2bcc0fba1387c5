"""The processors' tables: well formed, complete for our kernels, and held against LLVM's schedules row by row."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pytest

from setwise.analysis.code.decode import Decoded, decode
from setwise.analysis.cost.processors import PROCESSORS, CostRow, Processor, UnknownCost, processor
from setwise.analysis.cost.processors.processor import Uops
from tests.analysis.listings import assemble
from tests.analysis.semantics.forms import expanded, forms
from tests.conftest import require_tool


def test_what_a_table_does_not_have_is_named() -> None:
    with pytest.raises(UnknownCost, match="no figures for 'cpuid'"):
        processor("zen4").row(decode(bytes.fromhex("0fa2"))[0])
    with pytest.raises(UnknownCost, match="Zen 3 has no avx512"):
        processor("zen3").row(decode(bytes.fromhex("62f1f548efc2"))[0])
    with pytest.raises(ValueError, match="unknown processor 'zen9': choose from skylake-server"):
        processor("zen9")


@pytest.mark.parametrize("on", PROCESSORS, ids=lambda on: on.name)
def test_every_row_is_well_formed_and_has_a_source(on: Processor) -> None:
    assert all(row.source and row.forms.split() and row.uops is not None for row in on.rows)
    assert all(re.compile(row.mnemonics) for row in on.rows)
    assert on.sources
    accesses = (*on.loads.values(), *on.stores.values())
    assert all(access.source for access in accesses)
    sources = (*on.sources, *(row.source for row in on.rows), *(access.source for access in accesses))
    assert not [source for source in sources if "{" in source]  # what is cited is there


MODELS = {
    "skylake-server": "skylake-avx512",
    "ice-lake": "icelake-server",
    "golden-cove": "sapphirerapids",
    "zen3": "znver3",
}
"""What llvm-mca calls them. Zen 4's rows are not from LLVM but timed."""

FORMS = """
vpsllq zmm1,zmm2,3; vpsllvd zmm1,zmm2,zmm3; vprolq zmm1,zmm2,3; vpand ymm1,ymm2,ymm3; vpandq zmm1,zmm2,zmm3
vpternlogq {xmm1,xmm2,xmm3|ymm1,ymm2,ymm3|zmm1,zmm2,zmm3},5; vpmullq {xmm1,xmm2,xmm3|ymm1,ymm2,ymm3|zmm1,zmm2,zmm3}
vpermq zmm1,zmm2,5; {vpcompressq|vpexpandq} {xmm1(k1),xmm2|ymm1(k1),ymm2|zmm1(k1),zmm2}; valignq xmm1,xmm2,xmm3,1
vpermw {xmm1,xmm2,xmm3|zmm1,zmm2,zmm3}; vpbroadcastq {xmm1|ymm1|zmm1},{rcx|xmm2}; vpunpcklqdq zmm1,zmm2,zmm3
vpshufd zmm1,zmm2,5; vpshufb zmm1,zmm2,zmm3; v{pmovzx|pmovsx}bw zmm1,ymm2; vpxor ymm1,ymm2,ymm2; vpxorq zmm1,zmm2,zmm2
{xor|sub} {eax,eax|rax,rax}; bextr rax,rcx,rdx; mov {cx,7|cl,7|al,cl}; mov rax,0x123456789ab; jmp rax; cqo; cdq; cdqe
vpcmpeqq {xmm1,xmm2,xmm2|ymm1,ymm2,ymm3}; vpcmpeqb ymm1,ymm2,ymm2; vpabsb ymm1,ymm2; vpmullw ymm1,ymm2,ymm3
vmovdqa64 ymm1(k1),ymm2; vpblendmq {xmm1(k1),xmm2,xmm3|ymm1(k1),ymm2,ymm3}; vpbroadcast{b|w|d|q} xmm1,[rsi]
pxor xmm1,xmm1; lea rax,{[rcx]|[rcx+8]|[rcx+rdx]|[rcx+rdx*2]|[rdx*2]|[rdx*2+8]|[rcx+rdx+8]|[rcx+rdx*8+8]|[rip+8]}
back: jne back
"""
"""Further forms to those that all semantics are tried on."""


@dataclass(frozen=True)
class Cost:
    """What an instruction costs: cycles to its result from the operand that takes longest, ports, operations."""

    cycles: float
    ports: Mapping[str, float]
    operations: float

    def differs(self, other: Cost) -> set[str]:
        """In what two costs are not the same."""
        names = {*self.ports, *other.ports}
        far = any(abs(self.ports.get(name, 0) - other.ports.get(name, 0)) > 0.02 for name in names)
        found = {"cycles": self.cycles != other.cycles, "ports": far, "operations": self.operations != other.operations}
        return {name for name, differs in found.items() if differs}


@dataclass(frozen=True)
class Difference:
    """Where we deliberately differ from LLVM: on which processors, for what source lines, in what, and why."""

    where: str
    lines: str
    what: str
    why: str


DIFFERENCES = (
    Difference("skylake-server", r"mov [re]\w+,[re]\w+|movzx [re]\w+,\w+", "cycles ports", "LLVM eliminates no moves"),
    Difference(
        "skylake-server ice-lake", r"v?mov\w+ [xyz]mm\d+,[xyz]mm\d+", "cycles ports", "timed: as many as are issued"
    ),
    Difference("skylake-server ice-lake", r"xchg .*", "cycles", "1 for the faster of the two ways"),
    Difference("skylake-server ice-lake", r"bswap e\w+", "cycles ports operations", "one row, and it is of 64 bits"),
    Difference("skylake-server ice-lake", r"i?mul \w+|mulx .*", "cycles ports operations", "the low half; 64 bits"),
    Difference(
        "skylake-server ice-lake", r"(sh|sa|ro)[lr] \w+,cl", "cycles ports operations", "flags left out: none is used"
    ),
    Difference("skylake-server ice-lake", r"ro[lr] \w+,1", "cycles ports operations", "by 1: an operation for flags"),
    Difference(
        "skylake-server ice-lake", r"vp(add|sub|ternlog)\w zmm.*", "ports", "512 bits: p1 is closed; timed: 0.5"
    ),
    Difference("skylake-server ice-lake", r"vp(cmp|test)\w+ k.*", "cycles", "3 as recalled, the lower of the two"),
    Difference(
        "skylake-server ice-lake", r"v?ps[lr][la]\w .*,xmm9", "cycles", "from the value; LLVM's is from the count"
    ),
    Difference("skylake-server ice-lake", r"v?mov[dq] xmm1,[er]cx", "cycles", "timed there and back: 4, LLVM has 3"),
    Difference("skylake-server ice-lake", r"v?pinsr. xmm.*,[er]cx,.", "cycles", "timed there and back: 6, LLVM has 5"),
    Difference(
        "skylake-server ice-lake", r"vpbroadcastq xmm1,rcx", "cycles", "LLVM's 1 is less than a mere move takes"
    ),
    Difference("skylake-server ice-lake", r"vpblendm. zmm.*", "cycles", "timed: 1"),
    Difference("skylake-server ice-lake", r"vp(compress|expand)[dq] .*", "cycles", "timed: 3"),
    Difference("skylake-server ice-lake", r"valignq xmm.*", "cycles", "timed: 1"),
    Difference(
        "skylake-server ice-lake",
        r"vp?broadcast\w+ zmm.*\[rsi\]",
        "cycles ports operations",
        "LLVM gives every load of 512 bits an operation, as if it were masked",
    ),
    Difference("skylake-server", r"lea .*\+.*\+.*|lea .*\+.*-.*", "cycles ports", "timed: three components, 3 cycles"),
    Difference("ice-lake", r"lea \w+,\[\w+([+]\w+)*\]", "ports", "timed: four a cycle without a scaled index"),
    Difference("ice-lake", r"v?pmov[sz]x\w+ xmm1,\[rsi\]", "cycles", "a load and a shuffle; LLVM has a cycle more"),
    Difference("ice-lake", r"v?gf2p8affineqb .*", "cycles ports", "timed: 3, and one of 512 bits a cycle; LLVM has 5"),
    Difference("ice-lake", r"(vpopcnt[bq]|vpmultishiftqb) .*", "cycles ports", "taken over from Sapphire Rapids"),
    Difference("ice-lake", r"jmp rax", "ports", "Fog: jumps on p0 as well"),
    Difference("ice-lake", r"vpmullq zmm.*", "ports", "servers have a second multiplier on p5"),
    Difference("golden-cove", r".*", "cycles", "LLVM's latencies are a cycle or more above what was measured"),
    Difference(
        "golden-cove",
        r"(add|sub) \w+,-?\w+|(inc|dec) .*|mov\w* .*|v?mov\w+ [xyz]mm\d+,[xyz]mm\d+|vzeroupper",
        "operations ports",
        "renamed, which takes a slot; LLVM has none, or a port",
    ),
    Difference("golden-cove", r"lea .*", "ports", "measured: two or three parts anywhere, a scaled one on three ports"),
    Difference("golden-cove", r"xchg .*", "ports", "measured: one of three is renamed"),
    Difference("golden-cove", r"bswap e\w+", "ports operations", "one row, and it is of 64 bits"),
    Difference("golden-cove", r"i?mul \w+|mulx .*", "ports operations", "the low half; 64 bits"),
    Difference(
        "golden-cove", r"set\w+ .*|cmovn?be .*|cmova .*", "ports operations", "measured: carry and zero take two"
    ),
    Difference("golden-cove", r"ro[lr] \w+,\d+", "ports operations", "measured: two a cycle, one slot"),
    Difference("golden-cove", r"cdqe|cwde", "ports", "four a cycle on Ice Lake; LLVM has two of the ports"),
    Difference("golden-cove", r"vpmullq zmm.*|vpermw .*", "ports", "taken over from Ice Lake"),
    Difference("golden-cove", r"v?movlp[sd] xmm.*", "ports", "taken over from movhps, which was measured"),
    Difference("golden-cove", r"vp?broadcast\w+ zmm.*\[rsi\]", "ports operations", "measured: the load alone"),
    Difference("golden-cove", r"v?pxorq? .*|(xor|sub) .*", "ports", "timed: a zero is renamed"),
    Difference("zen3", r"(adc|sbb) .*", "ports", "timed: what LLVM takes for all units is the wait for the carry"),
    Difference("zen3", r"mov(abs)? \w+,(-?\w+)", "ports", "timed: four a cycle"),
    Difference("zen3", r"lea .*", "cycles ports operations", "measured: a base alone is a move, three parts are two"),
    Difference("zen3", r"tzcnt .*", "ports", "measured: beside shifts and beside all"),
    Difference(
        "zen3", r"vpblendvb .*|vpermilp[sd] [xy]mm\d,[xy]mm\d,[xy]mm\d", "ports", "measured: with 64-bit compares"
    ),
    Difference("zen3", r"i?mul \w+", "ports operations", "timed mulx: one a cycle; LLVM's is a chain's"),
    Difference("zen3", r"set\w+ .*", "ports", "timed: two a cycle"),
    Difference("zen3", r"pcmpeqq xmm.*", "ports", "timed: two a cycle, as LLVM has it for 256 bits"),
    Difference("zen3", r"v?ptest .*", "cycles ports", "LLVM leaves out the way to the flags"),
    Difference(
        "zen3", r"v?p?mov(d|q|msk\w+) (ecx|rcx),.*", "cycles ports", "LLVM leaves out the way between the files"
    ),
    Difference(
        "zen3", r"v?mov[dq] xmm1,[er]cx", "cycles ports", "timed there and back: 6 cycles, one a cycle each way"
    ),
    Difference("zen3", r"v?p(ext|ins)r. .*", "cycles ports", "timed there and back: 8 cycles"),
    Difference(
        "zen3", r"vp?broadcast\w+ ymm1,xmm2", "cycles ports", "measured: 1.9, so 2 would be no bound; the crossing"
    ),
    Difference("zen3", r"v(extract|insert)[if]128 .*", "cycles ports", "measured: 3.5 and 1.9; the crossing"),
    Difference("zen3", r"vperm2[if]128 .*", "ports", "measured: the crossing has a port of its own"),
    Difference("zen3", r"vperm(d|ps) .*", "cycles ports", "measured: 3 from the indices, 1.3 each; LLVM has 5 and 7"),
    Difference("zen3", r"vpmov[sz]x\w+ ymm.*", "ports", "timed: 1.25 cycles, LLVM has 1.5"),
    Difference("zen3", r"vzeroupper", "ports", "takes no unit on Zen 4"),
)

UNHELD = {"call", "ret", "push|pop", "nop|endbr64"}
"""Rows that LLVM's cannot be held against: they have the load, the store and rsp in them, or guess."""
UNHELD_LOADS = {"v?mov[hl]p[sd]|v?pinsr[bwdq]", "vp?broadcast\\w+"}
"""More of them on Zen 3, where LLVM gives loads units of their own."""


@pytest.mark.parametrize("name", MODELS)
def test_rows_are_those_of_llvm_or_differ_for_a_reason(name: str) -> None:
    on = processor(name)
    told = [*described(on)]
    used: set[Difference] = set()
    for (line, one, row), said in zip(told, theirs([line for line, _, _ in told], MODELS[name]), strict=True):
        found = ours(on, one, row).differs(said)
        known = [each for each in DIFFERENCES if name in each.where.split() and re.fullmatch(each.lines, line)]
        used |= {each for each in known if found & set(each.what.split())}
        assert found <= {what for each in known for what in each.what.split()}, (line, ours(on, one, row), said)
    assert used == {each for each in DIFFERENCES if name in each.where.split()}
    unheld = {row.mnemonics for row in on.rows} - {row.mnemonics for _, _, row in told}
    assert unheld <= UNHELD | (set() if on.splits else UNHELD_LOADS)


def test_intels_tables_have_rows_for_the_same_instructions() -> None:
    skylake, ice_lake = ({line for line, _, _ in described(processor(name))} for name in ("skylake-server", "ice-lake"))
    lacked_by_skylake = re.compile("vpermb |vpopcnt[bq] |vpmultishiftqb |v?gf2p8affineqb ")
    assert {line for line in skylake ^ ice_lake if not lacked_by_skylake.match(line)} == set()


LOADS = {
    "r": "mov rax,[rsi]",
    "s": "movq xmm1,qword ptr [rsi]",
    "x": "vmovdqu xmm1,xmmword ptr [rsi]",
    "y": "vmovdqu ymm1,ymmword ptr [rsi]",
}


@pytest.mark.parametrize(
    ("name", "beyond"),
    # LLVM has 5 for all general loads on Intel's; on Zen 3 a cycle more than AMD's guide, which it quotes.
    [
        ("skylake-server", {"r": 1}),
        ("ice-lake", {}),
        ("golden-cove", {"s": 1, "x": 1, "y": 1}),
        ("zen3", dict.fromkeys(LOADS, 1)),
    ],
)
def test_loads_take_as_long_as_llvm_and_the_makers_say(name: str, beyond: Mapping[str, int]) -> None:
    said = theirs([*LOADS.values()], MODELS[name])
    loads = processor(name).loads
    assert {size: loads[size].latency + beyond.get(size, 0) for size in LOADS} == {
        size: cost.cycles for size, cost in zip(LOADS, said, strict=True)
    }


def described(on: Processor) -> Iterator[tuple[str, Decoded, CostRow]]:
    """Instructions on registers, and loads with rows of their own, as LLVM reads them, with their rows."""
    together = [
        form.replace("(", "{").replace(")", "}") for line in re.split("[;\n]", FORMS) for form in expanded(line)
    ]
    lines = [line for line in dict.fromkeys([*forms(), *together]) if not re.match("push|pop|leave|nop|endbr", line)]
    for line, one in zip(lines, decode(assemble("\n".join(lines))), strict=True):
        try:
            row = on.row(one, taken=one.flow == "indirect")
        except UnknownCost:
            continue
        if one.memory is None or one.mnemonic == "lea" or ("m" in row.forms and on.splits):
            yield line, one, row


def ours(on: Processor, one: Decoded, row: CostRow) -> Cost:
    """The row as LLVM would have it: the longest way to the result; operations spread over the ports they may go to."""
    behind = max(row.latency.values()) if isinstance(row.latency, Mapping) else row.latency
    before = on.loads["s" if one.memory.bits <= 64 else "x"].latency if one.memory and one.loads else 0
    loading = on.splits and one.memory is not None and one.loads and bool(row.uops)
    return Cost(before + behind, _spread(row.uops), row.issue + loading)


def _spread(uops: Uops) -> dict[str, float]:
    found: dict[str, float] = {}
    for ports, count in uops:
        for port in ports:
            name = port if port not in ("F4", "F5") else "F45"
            found[name] = found.get(name, 0) + count / len(ports)
    return found


def theirs(lines: list[str], model: str) -> list[Cost]:
    """What llvm-mca's instruction tables say."""
    command = [require_tool("llvm-mca-19"), f"-mcpu={model}", "--instruction-tables", "--instruction-info", "--json"]
    source = ".intel_syntax noprefix\n" + "\n".join(lines) + "\n"
    said = json.loads(subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout)
    region, names = said["CodeRegions"][0], [_port(name) for name in said["TargetInfo"]["Resources"]]
    ports: list[dict[str, float]] = [{} for _ in lines]
    for use in region["ResourcePressureView"]["ResourcePressureInfo"]:
        at, name = use["InstructionIndex"], names[use["ResourceIndex"]]
        if name and at < len(lines):
            ports[at][name] = ports[at].get(name, 0) + use["ResourceUsage"]
    infos = region["InstructionInfoView"]["InstructionList"]
    return [Cost(one["Latency"], used, one["NumMicroOpcodes"]) for one, used in zip(infos, ports, strict=True)]


def _port(name: str) -> str:
    """Our name of LLVM's unit; none for what carries loads and stores."""
    if found := re.fullmatch("(?:SKX|ICX)Port([0156])|SPRPort0([0156])", name):
        return "p" + (found[1] or found[2])
    if name == "SPRPort10":
        return "q0"
    if found := re.fullmatch(r"Zn3(ALU|FP|BRU)(\d+)(\..)?", name, re.DOTALL):
        return {"ALU": "I", "FP": "F", "BRU": "B"}[found[1]] + ("0" if found[1] == "BRU" else found[2])
    return ""
