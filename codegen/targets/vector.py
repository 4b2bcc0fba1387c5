"""SSE2, AVX2, AVX-512 and GFNI: 64-bit lanes in vector registers, in addition to the rows of general registers."""

from dataclasses import replace

from setwise.codegen.ir.values import Value
from setwise.codegen.targets.general import BMI2, X86_64
from setwise.codegen.targets.table import Row, Target, alike, moves, per_lane_counts, uniform_count


def _doubled(value: Value) -> bool:
    """Return whether a register is shifted left by one in all lanes. An addition runs on more ports than a shift."""
    return set(value.attr) == {1} and value.args[0].op not in ("load", "place")


def _rows(*rows: Row) -> tuple[Row, ...]:
    return tuple(replace(row, file="vector") for row in rows)


# Rows of SSE2 only. The two-operand arithmetic overwrites argument a.
_SSE2 = _rows(
    *alike("d B", "and or xor andn", "p{}"),
    *alike("d B", "add sub", "p{}q"),
    Row("add-bytes", "paddb", "d B"),
    Row("sub-bytes", "psubb", "d B"),
    Row("shl", "paddq", "d d", when=_doubled),
    Row("shl", "psllq", "d n", when=lambda value: uniform_count(value) and not _doubled(value)),
    Row("shr", "psrlq", "d n", when=uniform_count),
    Row("shl-all", "psllq", "d b"),
    Row("shr-all", "psrlq", "d b"),
    Row("rotl-half", "pshufd", "d a 177"),
    Row("sum-bytes", "psadbw", "d B"),
    Row("signs-of-halves", "psrad", "d 31"),
    Row("high-halves", "pshufd", "d a 245"),
    Row("reverse-low-words", "pshuflw", "d a 27"),
    Row("reverse-high-words", "pshufhw", "d a 27"),
    Row("low-product", "pmuludq", "d B"),
    Row("from-general", "movq", "d a"),
    Row("to-general", "movq", "d a"),
    Row("join", "punpcklqdq", "d b"),
    Row("interleave", "punpcklbw", "d b"),
    Row("interleave-high", "punpckhbw", "d b"),
    Row("high-half", "pshufd", "d a 238", when=lambda value: value.args[0].lanes == 2),
    Row("load-constant", "movdqa", "d A"),
    *moves("movdqu"),
    Row("put-low", "movq", "[a+n] b"),
    Row("put-odd", "movhps", "[a+n] b"),
)


SSE2 = Target(
    "sse2",
    "SSE2",
    X86_64.features | {"sse2"},
    (*X86_64.rows, *_SSE2),
    move="movdqa",
    widths=(2,),
    vectors=16,
    aligned_operands=True,
)

SPLAT = Row("splat", "vpbroadcastq", "d a", file="vector")
"""Broadcast of a board from a vector register to all lanes."""

# Rows that AVX2 and AVX-512 share: the same mnemonic in VEX and EVEX encoding.
_VEX = _rows(
    *alike("d a B", "add sub", "vp{}q"),
    Row("add-bytes", "vpaddb", "d a B8"),
    Row("sub-bytes", "vpsubb", "d a B8"),
    Row("shl", "vpaddq", "d a a", when=_doubled),
    Row("shl", "vpsllvq", "d a B", when=per_lane_counts),
    Row("shr", "vpsrlvq", "d a B", when=per_lane_counts),
    Row("shl-each", "vpsllvq", "d a B"),
    Row("shr-each", "vpsrlvq", "d a B"),
    Row("shuffle-bytes", "vpshufb", "d a B8"),
    Row("nibble-counts", "vpshufb", "d a B8"),
    Row("sum-bytes", "vpsadbw", "d a B8"),
    Row("to-general", "vmovq", "d a"),
    Row("high-half", "vpshufd", "d a 238", when=lambda value: value.args[0].lanes == 2),
    Row("from-general", "vmovq", "d a"),
    Row("insert", "vpinsrq", "d a b 1"),
    Row("odd-to-general", "vpextrq", "d a 1"),
    Row("join", "vpunpcklqdq", "d a b"),
    Row("join-odd", "vpunpckhqdq", "d a b"),
    Row("interleave", "vpunpcklbw", "d a B8"),
    Row("interleave-high", "vpunpckhbw", "d a B8"),
)

_AVX2 = _VEX + _rows(
    *alike("d a B", "and or xor andn", "vp{}"),
    Row("shl", "vpsllq", "d a n", when=lambda value: uniform_count(value) and not _doubled(value)),
    Row("shr", "vpsrlq", "d a n", when=uniform_count),
    Row("rotl-half", "vpshufd", "d a 177"),
    Row("rotl-bytes", "vpshufb", "d a B8"),
    Row("low-product", "vpmuludq", "d a B"),
    Row("equal", "vpcmpeqq", "d a B"),
    Row("less-signed", "vpcmpgtq", "d b A"),
    Row("blend", "vpblendd", "d b a n"),
    Row("permute", "vpermq", "d a n"),
    SPLAT,
    Row("high-half", "vextracti128", "d a 1", when=lambda value: value.args[0].lanes == 4),
    Row("concatenate", "vinserti128", "d a b 1", when=lambda value: value.lanes == 4),
    Row("load-constant", "vmovdqa", "d A"),
    *moves("vmovdqu"),
    Row("put-low", "vmovq", "[a+n] b"),
    Row("put-odd", "vmovhps", "[a+n] b"),
)

SPLAT_RELOAD = Row("splat-reload", "vpbroadcastq", "d [slot1]", file="vector")
"""Broadcast of a board from a stack slot. Through memory, a transfer between files needs no shuffle port."""

AVX2 = Target(
    "avx2",
    "AVX2",
    BMI2.features | {"avx", "avx2"},
    (*BMI2.rows, *_AVX2),
    tries_rotates=True,
    move="vmovdqa",
    widths=(4, 2),
    vectors=16,
    tests_vectors=True,
)

_AVX512 = _VEX + _rows(
    *alike("d a B", "and or xor andn", "vp{}q"),
    Row("ternary", "vpternlogq", "d b C n"),
    Row("shl", "vpsllq", "d A n", when=lambda value: uniform_count(value) and not _doubled(value)),
    Row("shr", "vpsrlq", "d A n", when=uniform_count),
    Row("rotl", "vprolq", "d A n", when=uniform_count),
    Row("rotl", "vprolvq", "d a B", when=per_lane_counts),
    Row("rotlv", "vprolvq", "d a B"),
    Row("sar", "vpsraq", "d A n", when=uniform_count),
    Row("sar-each", "vpsravq", "d a B"),
    Row("mul", "vpmullq", "d a B"),
    Row("equal-mask", "vpcmpeqq", "d a B"),
    Row("less-mask", "vpcmpuq", "d a B 1"),
    Row("less-mask", "vpcmpuq", "d b A 6"),
    Row("less-signed-mask", "vpcmpq", "d a B 1"),
    Row("lanes-of-mask", "vpmovm2q", "d a"),
    Row("broadcast", "vpbroadcastq", "d a"),
    Row("high-half", "vextracti64x2", "d a 1", when=lambda value: value.args[0].lanes == 4),
    Row("high-half", "vextracti64x4", "d a 1", when=lambda value: value.args[0].lanes == 8),
    Row("concatenate", "vinserti64x2", "d a b 1", when=lambda value: value.lanes == 4),
    Row("concatenate", "vinserti64x4", "d a b 1", when=lambda value: value.lanes == 8),
    Row("nonzero-lanes", "vptestmq", "d a a"),
    Row("lanes-to-bytes", "vpmovqb", "d a", when=lambda value: value.args[0].lanes > 2),
    Row("lanes-to-words", "vpmovqw", "d a", when=lambda value: value.args[0].lanes == 8),
    Row("exchange", "vshufi64x2", "d a a 177"),
    Row("repeat", "vshufi64x2", "d a b 0"),
    Row("load-constant", "vpbroadcastq", "d A1", when=lambda value: uniform_count(value.args[0])),
    Row("load-constant", "vmovdqa64", "d A", when=lambda value: per_lane_counts(value.args[0])),
    *moves("vmovdqu64"),
    Row("load-some", "vmovdqu64", "d [a+b*8+n]", masked=True),
    Row("put-some", "vmovdqu64", "[a+b*8+n] c", masked=True),
    # Assemblers differ in their encoding of vmovq to memory from registers 16 to 31. vmovlps has one encoding.
    Row("put-low", "vmovlps", "[a+n] b"),
    Row("put-odd", "vmovhps", "[a+n] b"),
)

AVX512 = Target(
    "avx512",
    "AVX-512",
    AVX2.features | {"avx512f", "avx512vl", "avx512dq", "avx512bw"},
    (*BMI2.rows, *_AVX512),
    tries_rotates=True,
    move="vmovdqa64",
    widths=(8, 4, 2),
    vectors=32,
    broadcasts=True,
)

_GFNI = _rows(
    Row("permute-bytes", "vpermb", "d b A"),
    Row("multishift", "vpmultishiftqb", "d a B"),
    Row("affine", "vgf2p8affineqb", "d a B n"),
    Row("popcount", "vpopcntq", "d A"),
    Row("popcount-bytes", "vpopcntb", "d a"),
    Row("not-less-bytes-mask", "vpcmpub", "d a B8 5"),
    Row("nonzero-bytes-mask", "vptestmb", "d a B8"),
)

_MASKS = (
    Row("from-mask", "kmovq", "d a"),
    Row("or-masks", "korq", "d a b"),
    Row("put-mask", "kmovq", "[a+n] b"),
)

GFNI = replace(
    AVX512,
    name="gfni",
    title="AVX-512 with GFNI and VBMI",
    features=AVX512.features | {"gfni", "avx512vbmi", "avx512vpopcntdq", "avx512bitalg"},
    rows=(*AVX512.rows, *_GFNI, *_MASKS),
    extends=AVX512,
)

SETS = (SSE2, AVX2, AVX512, GFNI)
"""The vector instruction sets, oldest first."""
