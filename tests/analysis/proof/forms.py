"""Forms of the instructions and loops that random programs are made of, and of their defects (see `programs`)."""

CONDITIONS = ("o", "no", "b", "ae", "e", "ne", "be", "a", "s", "ns", "p", "np", "l", "ge", "le", "g")

QUIET = """mov {a},{c}|lea {a},[{c}+8*{b}-16]|lea {da},[{c}+{b}]|mov {da},{dc}|movsxd {a},{dc}|movzx {da},{lc}|not {a}
bswap {a}|xchg {a},{b}|mov {la},{lc}|mov {a},-2|mov {a},{s8}|mov {s8},{c}|mov {s4},{dc}|movzx {da},byte ptr {s1}
mov qword ptr {s8},77|lea {a},{s8}; mov [{a}],{c}|lea {a},{s8}; mov {a},[{a}]|mov {a},{m}|movdqu xmm{x},{s16}
movdqu {s16},xmm{x}|movq xmm{x},{c}|movq {a},xmm{x}|movhps {s8},xmm{x}|nop|endbr64|mov {a},rsp|lea {a},[rsp+8*{b}]
"""
"""They leave the flags alone."""

NOISE = """add {a},{c}|sub {a},{c}|or {a},{c}|xor {a},{c}|add {a},-8|sub {a},255|and {a},-64|neg {a}|inc {a}|shl {a},32
shr {a},3|sar {a},1|shl {a},cl|ror {a},8|rol {a},cl|shld {a},{b},cl|shrd {a},{b},4|imul {a},{c}|imul {a},{b},8
cmp {a},{c}; cmovb {a},{b}|test {a},{a}; cmovs {a},{b}|cmp {a},{c}; sbb {b},{b}|bt {c},{b}; setb {la}|bts {a},{b}
add {s8},{c}|inc qword ptr {s8}|add {a},{s8}|xor {da},{da}|cmp {c},{s8}; sete {la}|add {a},{a}; adc {b},{c}; setc {la}
mov {a},{c}; and {a},7; lea {b},[rip+quads]; mov {b},[{b}+8*{a}]|lea {a},[rip+quads]; lea {b},[rsp-16]; sub {a},{b}; \
mov {a},[{a}+{b}]|mov {a},[rip+shared@GOTPCREL]|sub {a},rsp
movdqa xmm{x},[rip+quads]|pxor xmm{x},xmm{y}|paddq xmm{x},xmm{y}|psllq xmm{x},8|pshufd xmm{x},xmm{y},27
pcmpeqd xmm{x},xmm{x}|pmovmskb {da},xmm{x}|punpcklqdq xmm{x},xmm{y}|movq xmm{x},{c}; movq {a},xmm{x}
push {c}; pop {a}|push {c}; add {a},[rsp]; add rsp,8|push {c}; lea rsp,[rsp+8]|push rsp; pop {a}
"""

ODD = """bt {c},5; setp {la}|imul {a},{b}; setz {lb}|mov {a},[rip+shared@GOTPCREL]; mov {b},[{a}+8]|adc {a},{b}
shl {a},3; seto {la}|setc {la}|bsf {a},{c}; sets {la}|and {a},{b}; imul {da},{db}; cmovz {a},{c}
imul {a},{b}; jz {1}; ~; {1}:
"""
"""Rare ones: flags and bytes of which nothing is known."""

AVX = """vpaddq ymm{x},ymm{y},ymm{y}|vpbroadcastq ymm{x},xmm{y}|vmovdqu {s32},ymm{x}|vmovdqu ymm{x},{s32}
vpermq ymm{x},ymm{y},78|vpsllvq ymm{x},ymm{y},ymm{x}|vextracti128 xmm{x},ymm{y},1|vpxor xmm{x},xmm{y},xmm{x}
shlx {a},{c},{b}|rorx {a},{c},9|andn {a},{c},{b}|pext {a},{c},{b}|popcnt {a},{c}|tzcnt {a},{c}|blsr {a},{c}
bzhi {a},{c},{b}|vmovq xmm{x},{c}
"""

AVX512 = """kmovq k{k},{c}|kxorq k{k},k{k},k{k}|kandq k{k},k{k},k{j}|kmovq {a},k{k}|kortestq k{k},k{k}; setz {la}
knotq k{k},k{j}|kshiftrq k{k},k{j},3|vpcmpeqq k{k},zmm{x},zmm{y}|vpternlogq zmm{x},zmm{y},zmm{y},150
vpbroadcastq zmm{x},{c}|vmovdqu64 zmm{x}<k{k}><z>,{s64}|vmovdqu64 {s64}<k{k}>,zmm{x}
kxorq k{k},k{k},k{k}; vmovdqu64 zmm{x}<k{k}>,[{c}]|kxorq k{k},k{k},k{k}; vmovdqu64 [{c}+{b}]<k{k}>,zmm{x}
kxorq k{k},k{k},k{k}; vpaddq zmm{x}<k{k}>,zmm{y},qword ptr [{c}]<1to8>
mov {da},5; kmovb k{k},{da}; vmovdqu64 zmm{x}<k{k}><z>,{s24}|mov {da},2; kmovb k{k},{da}; vmovdqu64 {s16}<k{k}>,ymm{x}
mov {da},4; kmovb k{k},{da}; vpaddq zmm{x}<k{k}>,zmm{y},qword ptr {s8}<1to8>
vpaddq zmm{x}<k{k}>,zmm{y},zmm{x}|vmovdqa64 zmm{x}<k{k}>,zmm{y}|kmovw {da},k{k}
"""

LOOPS = """{zero}; {1}:; cmp {i},{n}; -; jae {2}; = 8*{i}; inc {i}; jmp {1}; {2}:
{zero}; {1}:; cmp {i},{n}; -; jae {2}; = 8*{i}; sub {i},-1; jmp {1}; {2}:
test {n},{n}; je {2}; {zero}; {1}:; = 8*{i}; lea {i},[{i}+1]; cmp {i},{n}; -; jb {1}; {2}:
test {n},{n}; je {2}; {zero}; {1}:; = 8*{i}; inc {i}; cmp {i},{n}; -; jne {1}; {2}:
xor {di},{di}; {1}:; cmp {i},{n}; -; jge {2}; = 8*{i}; inc {i}; jmp {1}; {2}:
{zero}; {1}:; cmp {i},{n}; jae {2}; = 8*{i}; inc {i}; bt {a},{h}; jnc {1}; {3}:; cmp {i},{n}; jae {2}; = 8*{i}; \
inc {i}; jmp {3}; {2}:
lea {i},[{s}+8*{n}]; cmp {i},{s}; je {2}; {1}:; =; add {s},8; add {e},8; add {r},8; cmp {s},{i}; -; jne {1}; {2}:
mov {i},{n}; test {n},{n}; je {2}; {1}:; =; add {s},8; add {e},8; add {r},8; dec {i}; -; jnz {1}; {2}:
lea {s},[{s}+8*{n}]; lea {e},[{e}+8*{n}]; lea {r},[{r}+8*{n}]; \
mov {i},{n}; neg {i}; je {2}; {1}:; = 8*{i}; inc {i}; -; jnz {1}; {2}:
mov {i},{n}; {1}:; sub {i},1; jb {2}; = 8*{i}; jmp {1}; {2}:
mov {i},{n}; test {i},{i}; je {2}; {1}:; = 8*{i}-8; dec {i}; -; jnz {1}; {2}:
shl {n},3; {zero}; {1}:; cmp {i},{n}; -; jae {2}; = {i}; add {i},8; jmp {1}; {2}:
mov {p},{n}; {zero}; {1}:; cmp qword ptr {p},0; je {2}; = 8*{i}; dec qword ptr {p}; inc {i}; jmp {1}; {2}:
{zero}; {3}:; lea {t},[{i}+2]; cmp {t},{n}; ja {1}; = 8*{i}; = 8*{i}+8; \
mov {i},{t}; jmp {3}; {1}:; cmp {i},{n}; jae {2}; = 8*{i}; {2}:
"""
"""Loops of one board a round, or two; {i} {t} {q} are registers of the loop, {p} bytes of the stack, {o} a mask.

A line = stands for a board, * for several, ? for several under a mask.
"""

VECTORS = "{3}:; lea {t},[{i}+{lanes}]; cmp {t},{n}; ja {4}; * 8*{i}; mov {i},{t}; jmp {3}"
REST = "{1}:; cmp {i},{n}; -; jae {2}; = 8*{i}; inc {i}; jmp {1}; {2}:"
MASKED = """{1}:; mov {t},{n}; sub {t},{i}; je {2}; mov {q},-1; cmp {t},8; jae {5}; bzhi {q},{q},{t}; {5}:; \
kmovb k{o},{dq}; ? 8*{i}; cmp {t},8; jbe {2}; add {i},8; jmp {1}; {2}:"""

DEFECTS = {
    "raise": "add rsp,{up}; nop; sub rsp,{up}|lea rsp,[rsp+{up}]; not {a}; lea rsp,[rsp-{up}]"
    "|sub rsp,-{up}; sub rsp,{up}",
    "drop": "add rsp,{lost}; sub rsp,{lost}|lea rsp,[rsp+{lost}]; mov {a},rsp; lea rsp,[rsp-{lost}]",
    "below": "mov [rsp-{under}],{g}; ~; mov {g},[rsp-{under}]|push [rsp-{under}]; or {g},[rsp]; add rsp,8",
    "unset": "or {g},{a}|or {g},{s8}|add {g},{s8}|movq {a},xmm{x}; xor {g},{a}",
    "caller": "mov [rsp+{above}],{a}|inc qword ptr [rsp+{above}]|mov byte ptr [rsp+{above}],1|or {g},[rsp+{above}]",
    "wild": "mov [{a}],{b}|mov {b},[{a}]|movdqa xmm{x},[rsp+1]|mov [{v}-8],{a}|mov {b},[{a}+rsp]",
    "value": "btc {g},{h}|mov {dg},{dg}|btr {g},{h}|mov {lg},1|shr {g},1|xor {dg},{dg}|cmp {g},77; sete {lg}"
    "|test {lg},{lg}; cmovs {g},{a}|bt {g},{h}; jnc {1}; inc {g}; {1}:",
    "vector": "pxor xmm{w},xmm{w}|kxorq k{u},k{u},k{j}|vzeroupper|vmovdqa xmm{w},xmm{w}|paddq xmm{w},xmm{x}",
    "saved": "inc {v}|mov {dv},{dv}|xchg {v},{a}|test {a},{a}; cmovz {v},{b}",
    "deep": "sub rsp,4096; mov [rsp],{a}; add rsp,4096|sub rsp,8192; mov [rsp+8],{a}; add rsp,8192|mov [rsp-5000],{a}",
    "lost": "test {a},1; jz {1}; lea rsp,[rsp+8]; {1}:|test {a},1; jz {1}; ret; {1}:|test {a},1; jz {1}; push 1; {1}:",
    "endless": "{1}:; bt {g},{h}; jc {1}",
}
"""Those that may be planted among random instructions."""

FINAL = {
    "undefined": "xor {da},{da}; or {b},1; shr {b},1; or {b},1; bt {b},3; setz {la}; shl {a},{h}; or {g},{a}"
    "|xor {da},{da}; or {b},1; shr {b},1; or {b},1; imul {b},{b},1; setz {la}; shl {a},{h}; or {g},{a}"
    "|xor {da},{da}; or {b},1; shr {b},1; or {b},1; bts {b},7; sets {la}; neg {a}; or {g},{a}",
    "exported": "mov {a},[rip+shared@GOTPCREL]; and {da},63; or {g},{a}|mov {a},[rip+shared@GOTPCREL]; or {g},[{a}+8]"
    "|mov {a},[rip+shared@GOTPCREL]; mov {b},[rip+shared2@GOTPCREL]; sub {b},{a}; lea {a},[{b}-64]; or {g},{a}"
    "|mov {a},[rip+shared@GOTPCREL]; movdqa xmm{x},[{a}]",
}
"""Those that make a final result of what nobody may trust."""

PLACED = "carried restore rare early beside aligned count late mask flag break skip narrow"
"""Those that belong to one part of a program."""
