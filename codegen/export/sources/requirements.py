"""The CPU features that exported source requires: of its intrinsics, and of its bytes in general registers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from setwise.codegen.export.names import uses_pext
from setwise.codegen.export.order import Facts, Order
from setwise.codegen.export.sources.source import source_of
from setwise.codegen.ir.graph import postorder
from setwise.codegen.ir.values import Value
from setwise.codegen.kernel import Kernel
from setwise.codegen.run.cpu import FEATURES
from setwise.codegen.targets.table import per_lane_counts

FAST_PEXT = "fast-pext"
"""The processor executes pext and pdep without microcode. It is no bit of CPUID; its vendor and family say it."""
_AVX512F, _AVX512BW, _AVX512VL, _AVX512DQ = "avx512f", "avx512bw", "avx512vl", "avx512dq"
_GENERAL = ("popcnt", "bmi1", "bmi2")
_OF_OPERATION: Mapping[str, str] = {
    **dict.fromkeys(("rotl", "rotlv", "sar", "sar-each", "ternary", "exchange", "repeat"), _AVX512F),
    **dict.fromkeys(("equal-mask", "less-mask", "less-signed-mask"), _AVX512F),
    **dict.fromkeys(("lanes-to-bytes", "lanes-to-words", "load-some", "put-some"), _AVX512F),
    **dict.fromkeys(("mul", "lanes-of-mask"), _AVX512DQ),
    **dict.fromkeys(("permute-bytes", "multishift"), "avx512vbmi"),
    **dict.fromkeys(("nonzero-bytes-mask", "not-less-bytes-mask"), _AVX512BW),
    "affine": "gfni",
    "popcount": "avx512vpopcntdq",
    "popcount-bytes": "avx512bitalg",
}
"""The feature of an operation on vectors of every width, beyond that of its width."""
_ON_BYTES = (
    *("add-bytes", "sub-bytes", "interleave", "interleave-high", "shuffle-bytes"),
    *("nibble-counts", "sum-bytes", "rotl-bytes"),
)
_OF_AVX2 = ("blend", "splat", "shl-each", "shr-each")
_IMPLIED: Mapping[str, str] = {"avx2": "avx", _AVX512F: "avx2", _AVX512VL: "avx512dq"} | dict.fromkeys(
    (_AVX512BW, "avx512dq", "avx512vbmi", "avx512vpopcntdq", "avx512bitalg"), _AVX512F
)
"""The feature that comes with each on all processors, and that compilers use with it: GCC has vextracti64x2, of
AVX512DQ, in functions with AVX512VL."""
_BITS_OF_CPUID = {**FEATURES, "sse2": (1, 3, 26, 0)}
ORDER = (
    *("sse2", *_GENERAL, FAST_PEXT, "avx", "avx2", _AVX512F, _AVX512VL, _AVX512BW, "avx512vbmi", "gfni", _AVX512DQ),
    *("avx512vpopcntdq", "avx512bitalg"),
)
"""All features that source or bytes can require, oldest first except for AVX512DQ, which few need."""
BITS: Mapping[str, int] = {feature: 2 << at for at, feature in enumerate(ORDER)}
"""The bit of each feature in exported source. Bit 0 says that the features are detected."""


def requirement(kernel: Kernel, order: Order) -> tuple[str, ...]:
    """Return the features that the kernel's source requires, oldest first.

    Vector code requires the features of its intrinsics alone: compilers use BMI there if their flags allow it, but need
    it only for a few moves. Code in general registers requires those of its bytes, since it has no intrinsics. A
    feature that another one implies is left out.
    """
    bytes_features = order.facts(kernel).features
    values = [*postorder(source_of(kernel).graph.results)]
    vectors = any(value.lanes > 1 for value in values)
    needs = {"popcnt", *(() if vectors else _GENERAL)} & {*bytes_features}
    if uses_pext(kernel):
        needs |= {"bmi2", FAST_PEXT}
    if any(value.op == "tzcnt" for value in values):
        needs |= {"bmi1"}
    if any(feature.startswith("avx") for feature in bytes_features):
        needs |= {"avx"}.union(*map(_of, values))
    elif vectors:
        needs |= {"sse2"}
    # Compilers do not enable AVX512DQ with AVX512VL.
    return tuple(feature for feature in ORDER if feature in needs - (_implied(needs) - {_AVX512DQ}))


def source_facts(kernel: Kernel, order: Order) -> Facts:
    """Return the facts on the kernel's bytes, with the features that its source requires."""
    return replace(order.facts(kernel), features=requirement(kernel, order))


def bytes_requirement(kernel: Kernel, order: Order) -> tuple[str, ...]:
    """Return the features that the kernel's bytes require, without those that others imply."""
    needs = {*order.facts(kernel).features, *((FAST_PEXT,) if uses_pext(kernel) else ())}
    return tuple(sorted(needs - _implied(needs), key=ORDER.index))


def _of(value: Value) -> Iterator[str]:
    """Yield the features of an operation on vectors, or of a vector constant."""
    lanes = max(value.lanes, *(arg.lanes for arg in value.args), 1)
    if lanes == 1:
        return
    yield "avx2" if lanes == 4 or value.op in _OF_AVX2 or _shifts_apart(value) else "avx"
    if lanes == 8:
        yield _AVX512F
        if value.op in _ON_BYTES:
            yield _AVX512BW
    if value.op in _OF_OPERATION:
        yield _OF_OPERATION[value.op]
        if lanes < 8:
            yield _AVX512VL


def _shifts_apart(value: Value) -> bool:
    """Return whether lanes are shifted by different counts."""
    return bool(value.operation.left) and (len(value.args) > 1 or per_lane_counts(value))


def constant_name(feature: str) -> str:
    """Return the constant name of a feature's bit.

    >>> constant_name("fast-pext")
    'FAST_PEXT'
    """
    return feature.replace("-", "_").upper()


def lines_for(features: Iterable[str], template: str, *syntax: str) -> list[str]:
    """Return the lines of a template for each of these features, oldest first.

    It has the {feature}, its {name} as a constant, its {bit}, and its {test}: `cpuid_test` with the arguments `syntax`.

    >>> lines_for(("bmi2",), "#define {name} {bit}")
    ['#define BMI2 16']
    """
    lines = []
    for feature in sorted(features, key=ORDER.index):
        words = {"name": constant_name(feature), "bit": BITS[feature], "test": cpuid_test(feature, *syntax)}
        lines += template.format(feature=feature, **words).splitlines()
    return lines


def _implied(needs: Iterable[str]) -> set[str]:
    """Return the features that others imply."""
    found: set[str] = set()
    for feature in needs:
        while feature in _IMPLIED:
            feature = _IMPLIED[feature]
            found.add(feature)
    return found


def cpuid_test(feature: str, template: str = "{word}", fast_pext: str = "", joined: str = " ") -> str:
    """Return the condition under which a processor and its system have a feature and those that it implies.

    The template tests the bits of a {mask} in a {word}: a register (0 eax to 3 edx) of a CPUID leaf, or `state`, which
    is XCR0. `fast_pext` is the condition of `FAST_PEXT`.

    >>> cpuid_test("avx2", "{word} & {mask}", joined=", ")
    'leaf1[2] & 0x10000000, leaf7[1] & 0x20, state & 0x6'
    """
    if feature == FAST_PEXT:
        return fast_pext
    masks: Counter[str] = Counter()
    for each in {feature, *_implied([feature])}:
        leaf, register, bit, state = _BITS_OF_CPUID[each]
        masks[f"leaf{leaf}[{register}]"] |= 1 << bit
        masks["state"] |= state
    return joined.join(template.format(word=word, mask=hex(mask)) for word, mask in sorted(masks.items()) if mask)
