"""An emulated machine boots from our own bytes, makes its calls, and tells what went wrong in which."""

import struct
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from setwise.codegen.assemble import assemble
from setwise.codegen.machine.code import Code, Instruction, general
from setwise.codegen.run import cpu
from setwise.codegen.run.bochs import PROCESSORS, EmulatedProcessor, NoBochs, boot, processor, ready, usual
from setwise.codegen.run.boot import Aftermath, Full, Image
from tests.conftest import require_tool

FORTY_TWO = bytes.fromhex("b82a000000c3")  # mov eax,42; ret
FOREVER = bytes.fromhex("ebfe")
ICE_LAKE = processor("ice-lake")


def booted(image: Image, on: EmulatedProcessor = ICE_LAKE, seconds: float = 60) -> Aftermath:
    require_tool("bochs")
    return boot(image, on, seconds)


def calls(*codes: str | bytes) -> Aftermath:
    """One call of each code."""
    image = Image()
    for each in codes:
        image.call(image.code(bytes.fromhex(each) if isinstance(each, str) else each), ())
    return booted(image)


@pytest.mark.parametrize("on", PROCESSORS.values(), ids=PROCESSORS)
def test_a_processor_has_the_features_that_its_cpuid_says(on: EmulatedProcessor) -> None:
    image = Image()
    cpuid = image.code(assemble(cpu._cpuid(windows=False), "iced").image)
    xgetbv = image.code(assemble(cpu._xgetbv(), "iced").image)
    answers = {leaf: image.writable(bytes(16)) for leaf in (0, 1, 7)}
    for leaf, address in answers.items():
        image.call(cpuid, (leaf, 0, address))
    state = image.call(xgetbv, ())
    left = booted(image, on)

    def words(leaf: int) -> tuple[int, ...]:
        return struct.unpack("<4I", left.read(answers[leaf], 16))

    assert cpu._features(words, lambda: left.calls[state].result) == on.features


def test_names() -> None:
    assert processor("icelake") is processor("Ice-Lake") is PROCESSORS["ice-lake"]
    with pytest.raises(ValueError, match=r"untested Bochs processor 'zen4'.*: use one of nehalem, haswell"):
        processor("zen4")
    assert usual(frozenset({"avx512f"})) is PROCESSORS["skylake-server"]
    assert usual(frozenset({"gfni"})) is PROCESSORS["ice-lake"]
    assert usual(frozenset({"avx10"})) is None


def test_without_bochs_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(NoBochs, match="apt-get install bochs"):
        ready("icelake")
    with pytest.raises(NoBochs, match="apt-get install bochs"):
        boot(Image(), ICE_LAKE)


def test_calls_are_made_in_order_with_their_arguments() -> None:
    image = Image()
    arguments = [general(name) for name in ("rsi", "rdx", "rcx")]
    add = Code("add", (*(Instruction("add", (general("rdi"), r)) for r in arguments), Instruction("ret")))
    store = bytes.fromhex("488b06 4883c001 488907 c3")  # mov rax,[rsi]; add rax,1; mov [rdi],rax; ret
    counter = image.writable(struct.pack("<Q", 5))
    last = image.code(assemble(add).text[:-1] + bytes.fromhex("4889f8c3"))
    store_at = image.code(store)
    for _ in range(3):
        image.call(store_at, (counter, counter))
    image.call(last, (1, 20, 300, 4000))
    left = booted(image)
    assert [call.result for call in left.calls] == [6, 7, 8, 4321]
    assert left.read(counter, 8) == struct.pack("<Q", 8)


def test_much_memory_is_as_it_was_put_there() -> None:
    image = Image()
    given, made = bytes(range(256)) * 8000, bytes(range(255)) * 9000
    source, target = image.read_only(given), image.writable(made)
    further = image.writable(bytes(len(given)))
    copy = image.code(bytes.fromhex("4889d1 f3a4 c3"))  # mov rcx,rdx; rep movsb; ret
    image.call(copy, (further, source, len(given)))
    left = booted(image)
    assert left.read(target, len(made)) == made
    assert left.read(further, len(given)) == given
    with pytest.raises(Full):
        image.read_only(bytes(1 << 27))


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("0f0b", "invalid opcode"),
        ("31c0 488b00 c3", "page fault"),  # a null pointer
        ("488d0500000000 488900 c3", "page fault"),  # writes to its own code
        ("488d4424c0 ffe0", "page fault"),  # jumps into the stack
        ("48b80000000000000080 488b00 c3", "general protection fault"),  # no address
        ("31e4 50 c3", "page fault"),  # a stack that is none
        ("31d2 31c9 48f7f1 c3", "divide error"),
        ("0f280424 0f28442401 c3", "general protection fault"),  # an aligned load of what is not aligned
    ],
    ids=["invalid", "null", "own code", "data as code", "no address", "no stack", "division", "alignment"],
)
def test_a_fault_ends_its_call_alone(code: str, fault: str) -> None:
    before, broken, behind = calls(FORTY_TWO, code, FORTY_TWO).calls
    assert (before.result, behind.result) == (42, 42)
    assert broken.fault == fault


def test_what_is_given_cannot_be_written() -> None:
    image = Image()
    address = image.read_only(bytes(8))
    image.call(image.code(bytes.fromhex("488907c3")), (address,))
    image.call(image.code(bytes.fromhex("488b07c3")), (address,))
    writes, reads = booted(image).calls
    assert writes.fault == "page fault"
    assert reads.ended
    assert not reads.fault


def test_a_call_without_end_is_told_and_those_behind_it_not_begun() -> None:
    image = Image()
    for code in (FORTY_TWO, FOREVER, FORTY_TWO):
        image.call(image.code(code), ())
    before, broken, behind = booted(image, seconds=2).calls
    assert before.result == 42
    assert not broken.ended
    assert not behind.ended


@pytest.mark.slow
def test_nobody_on_a_network_sees_the_machine() -> None:
    program = "import sys\nfrom setwise.codegen.run.orphan import without_network\nsys.exit(not without_network())"
    if subprocess.run([sys.executable, "-c", program]).returncode:
        pytest.skip("not run: this system lets no process leave the network")
    before = listening()
    image = Image()
    image.call(image.code(FOREVER), ())
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(booted, image, seconds=3)
        seen = set()
        while not running.done():
            seen |= listening()
            time.sleep(0.1)
    assert not running.result().calls[0].ended
    assert seen - before == set()


def listening() -> set[int]:
    """The ports from 5900 on at which somebody listens."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    ports = {int(line.split()[1].partition(":")[2], 16) for line in lines if line.split()[3] == "0A"}
    return {port for port in ports if 5900 <= port < 5950}


def test_an_old_processor_lacks_what_is_new() -> None:
    image = Image()
    image.call(image.code(bytes.fromhex("62b17d48efc0 c3")), ())  # vpxord zmm0,zmm0,zmm16
    assert booted(image, PROCESSORS["haswell"]).calls[0].fault == "invalid opcode"
    assert not booted(image, PROCESSORS["skylake-server"]).calls[0].fault
