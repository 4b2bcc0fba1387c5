"""Forms of every instruction that has semantics, in Intel syntax.

`{a|b}` stands for each of its choices, `(k1)` for the mask `{k1}`. rsi points to memory, rbx holds a small number, and
so do the lanes of zmm9.
"""

import re

CONDITIONS = ("o", "no", "b", "ae", "e", "ne", "be", "a", "s", "ns", "p", "np", "l", "ge", "le", "g")


def expanded(source: str) -> list[str]:
    """`{a|b}` stands for each of its choices; a blank entry for none."""
    choice = re.search(r"\{([^{}]*\|[^{}]*)\}", source)
    if choice is None:
        return [source.strip()] if source.strip() else []
    texts = (source[: choice.start()] + one + source[choice.end() :] for one in choice[1].split("|"))
    return [form for text in texts for form in expanded(text)]


GENERAL_FORMS = f"""
{{add|or|adc|sbb|and|sub|xor|cmp|mov}} {{rax,rcx|eax,ecx|ax,cx|al,cl|ah,cl|rax,[rsi]|[rsi],rcx|[rsi+8],cl|
rax,-5|ecx,77|r9,rax}}
{{test|xchg}} {{rax,rcx|eax,ecx|cx,ax|al,dl|[rsi],rcx}}; test eax,77; xor eax,eax; sub rax,rax
movabs rax,0x8123456789abcdef
{{not|neg|inc|dec}} {{rax|ecx|dx|ah|qword ptr [rsi]|byte ptr [rsi+3]}}
{{movzx|movsx}} {{rax,cl|eax,ch|ax,cl|ecx,ax|rcx,word ptr [rsi]|ecx,byte ptr [rsi]}}; movsxd rax,ecx
movsxd rax,[rsi]
lea rax,[rcx+rdx*8-77]; lea eax,[rcx+rdx*4+5]; lea r9,[rdx*2+1]; mov rax,[rsi+rbx*8+8]; mov [rsi+rbx*4],edx
mov eax,eax
movbe {{rax|ecx|dx}},[rsi]; movbe [rsi],{{rcx|edx|ax}}
bswap {{rax|ecx|r9}}; cwde; cdqe; cdq; cqo; stc; clc; cmc; nop; endbr64
push rax; push r9; push -3; push qword ptr [rsi]; pop rax; pop r9; mov rbp,rsp; leave
imul {{rax,rcx|eax,ecx|cx,ax|rax,[rsi]|rax,rcx,77|eax,[rsi],-5|rcx|ecx}}; mul {{rcx|ecx|qword ptr [rsi]}}
{" ; ".join(f"set{c} al; set{c} [rsi]; cmov{c} rax,rcx; cmov{c} eax,ecx; cmov{c} rax,[rsi]" for c in CONDITIONS)}
{{shl|shr|sar|rol|ror}} {{rax|ecx|dx|al|qword ptr [rsi]}},{{1|3|7|cl}}
{{shl|shr|sar|rol|ror}} {{rax,63|rax,32|ecx,31|ecx,0}}
{{shld|shrd}} {{rax,rcx|eax,ecx|r9d,ecx}},{{1|7|31|cl}}; {{shld|shrd}} {{eax,ecx,0|eax,ecx,32|r9d,ecx,96|rax,rcx,64}}
{{bt|bts|btr|btc}} {{rax,rcx|eax,ecx|rax,63|ecx,5|qword ptr [rsi],9}}
{{bsf|bsr|tzcnt|lzcnt|popcnt}} {{rax,rcx|eax,ecx|rax,[rsi]}}
andn {{rax,rcx,rdx|eax,ecx,edx|rax,rcx,[rsi]}}; {{blsr|blsi|blsmsk}} {{rax,rcx|eax,ecx|rax,[rsi]}}
{{bextr|bzhi|shlx|shrx|sarx}} {{rax,rcx,rdx|eax,ecx,edx|rax,[rsi],rdx}}
rorx {{rax,rcx,9|eax,ecx,31|rax,[rsi],0}}
{{mulx|pext|pdep}} {{rax,rcx,rdx|eax,ecx,ebx|rax,rcx,[rsi]}}; mulx rax,rax,rcx
"""

VECTOR_FORMS = """
{pand|pandn|por|pxor|andps|andnps|orps|xorps|andpd|andnpd|orpd|xorpd} xmm1,{xmm2|[rsi]}
v{pand|pandn|por|pxor|andps|andnps|orps|xorps|andpd|andnpd|orpd|xorpd} {xmm1,xmm2,xmm3|ymm1,ymm2,[rsi]}
v{pand|pandn|por|pxor}{d|q} {xmm17,xmm2,xmm3|ymm1(k1),ymm2,ymm3|zmm1(k2)(z),zmm2,[rsi]}
v{pand|pandn|por|pxor}d zmm1(k1),zmm2,dword ptr [rsi](1to16)
v{pand|pandn|por|pxor}q zmm1,zmm2,qword ptr [rsi](1to8)
v{and|andn|or|xor}ps ymm1(k1),ymm2,dword ptr [rsi](1to8); v{and|andn|or|xor}pd zmm1(k1)(z),zmm2,zmm3
{padd|psub|pcmpeq}{b|w|d} xmm1,{xmm2|[rsi]}
{paddq|psubq|pcmpeqq|pcmpgtq|pcmpgtb|pcmpgtw|pcmpgtd|pmuludq|psadbw} xmm1,xmm2
v{padd|psub}{b|w|d|q} {xmm1,xmm2,xmm3|ymm1,ymm2,[rsi]|zmm1(k1),zmm2,zmm3|zmm1(k1)(z),zmm2,[rsi]}
v{pcmpeq|pcmpgt}{b|w|d|q} {ymm1,ymm2,ymm3|k3,zmm2,zmm3|k3(k1),zmm2,[rsi]|k3,ymm2,ymm2}
{paddus|psubus}{b|w} xmm1,xmm2; v{paddus|psubus}{b|w} {ymm1,ymm2,ymm3|zmm1(k1),zmm2,zmm3}
{pmullw|pmulld|pminsb|pminsw|pminsd|pmaxsb|pmaxsw|pmaxsd|pminub|pminuw|pminud|pmaxub|pmaxuw|pmaxud} xmm1,xmm2
v{pmullw|pmulld|pminsb|pminsw|pminsd|pmaxsb|pmaxsw|pmaxsd|pminub|pminuw|pminud|pmaxub|pmaxuw|
pmaxud} ymm1,ymm2,ymm3
v{pmullq|pminsq|pmaxsq|pminuq|pmaxuq|pmuludq} zmm1(k1),zmm2,zmm3
{psll|psrl}{w|d|q} {xmm1,0|xmm1,9|xmm1,63|xmm1,xmm9|xmm1,[rsi+256]}; {psraw|psrad} {xmm1,3|xmm1,77|xmm1,xmm9}
v{psll|psrl}{w|d|q} {ymm1,ymm2,5|ymm1,ymm2,255|ymm1,ymm2,xmm9|zmm1(k1),zmm2,xmm9|zmm1(k1)(z),[rsi],7}
v{psraw|psrad|psraq} {zmm1,zmm2,5|zmm1,zmm2,255|zmm1(k1),zmm2,xmm9}; vpsllq zmm1,qword ptr [rsi](1to8),8
v{psllvd|psllvq|psrlvd|psrlvq|psravd} {ymm1,ymm2,ymm9|xmm1,xmm2,[rsi+256]}
v{psllvw|psllvq|psrlvw|psrlvd|psravw|psravq} zmm1(k1),zmm2,zmm9; vpsllvq zmm1,zmm2,qword ptr [rsi+256](1to8)
v{psllvq|psrlvq} zmm1,zmm2,[rsi+256]
v{prol|pror}{d|q} {zmm1,zmm2,9|ymm1(k1),ymm2,63|xmm1(k1)(z),[rsi],1}
v{prolv|prorv}{d|q} {zmm1,zmm2,zmm3|ymm1(k1),ymm2,[rsi]}
vprolvq zmm1(k1),zmm2,qword ptr [rsi](1to8)
{pslldq|psrldq} xmm1,{0|5|16|77}; v{pslldq|psrldq} {ymm1,ymm2,3|zmm1,zmm2,9}
vpternlog{d|q} {zmm1,zmm2,zmm3|ymm1(k1),ymm2,ymm3|xmm1(k1)(z),xmm2,[rsi]},{0|0x0f|0x33|0x55|0xca|0xd8|0xea|0xf8|
0x96|0xfe|0xff|0x1d}
vpternlogq zmm1,zmm2,qword ptr [rsi](1to8),0x2a; vpternlogd zmm1(k1)(z),zmm2,dword ptr [rsi](1to16),0xe2
gf2p8affineqb xmm1,{xmm2|[rsi]},0x5a; vgf2p8affineqb {ymm1,ymm2,ymm3|zmm1,zmm2,zmm3|zmm1(k1),zmm2,[rsi]|
zmm1,zmm2,qword ptr [rsi](1to8)|zmm1(k1),zmm2,zmm3|zmm1,zmm2,[rsi]|ymm1,ymm2,qword ptr [rsi](1to4)|
xmm1,xmm2,qword ptr [rsi](1to2)|xmm1,xmm2,xmm3},{0|0x81}
vpcmp{|u}{b|w|d|q} {k3,zmm2,zmm3|k3(k1),ymm2,[rsi]},{0|1|2|3|4|5|6|7}; vpcmpuq k3,zmm2,{qword ptr [rsi](1to8),1|[rsi],6}
vpcmpub k3,zmm2,[rsi],5
v{ptestm|ptestnm}{b|w|d|q} {k3,zmm2,zmm3|k3,zmm2,[rsi]|k3(k1),ymm2,[rsi]|k3,xmm9,xmm9}
v{popcnt{b|w|d|q}|plzcntd|plzcntq} {zmm1,zmm2|ymm1,ymm2|ymm1(k1)(z),[rsi]}
vpcompress{b|w|d|q} {zmm1(k1),zmm2|ymm1(k1)(z),ymm2|xmm1,xmm2|[rsi](k1),zmm2|[rsi+8](k2),xmm2}
vpexpand{b|w|d|q} {zmm1(k1),zmm2|ymm1(k1)(z),ymm2|xmm1,xmm2|zmm1(k1)(z),[rsi]|xmm1(k2),[rsi+8]}
vpshufbitqmb k3,{zmm1,zmm2|ymm1,[rsi]}; vpshufbitqmb k3(k1),zmm9,zmm2
vpmultishiftqb {zmm1,zmm2,zmm3|ymm1(k1),ymm2,[rsi]|xmm1(k1)(z),xmm2,qword ptr [rsi](1to2)}
vpconflict{d|q} {zmm1,zmm9|ymm1(k1),ymm9|xmm1(k1)(z),[rsi+256]}; vpconflictq zmm1,qword ptr [rsi](1to8)
{pabsb|pabsw|pabsd|pmaddwd|phaddw|phaddd} xmm1,{xmm2|[rsi]}; vphadd{w|d} ymm1,ymm2,{ymm3|[rsi]}
vpabs{b|w|d|q} {zmm1,zmm2|ymm1(k1),[rsi]}; vpmaddwd {ymm1,ymm2,ymm3|zmm1(k1),zmm2,[rsi]}
pmaddubsw xmm1,{xmm2|[rsi]}; vpmaddubsw {ymm1,ymm2,ymm3|zmm1(k1),zmm2,[rsi]}
pclmulqdq xmm1,{xmm2|[rsi]},{0|1|16|17}; vpclmulqdq {xmm1,xmm2,xmm3|ymm1,ymm2,[rsi]|zmm1,zmm2,zmm3},{0|17}
vpshld{w|d|q} {zmm1,zmm2,zmm3|ymm1(k1),ymm2,[rsi]},{0|5|77}
vpshrd{w|d|q} {zmm1,zmm2,zmm3|xmm1(k1)(z),xmm2,[rsi]},{0|9|78}
v{pshldv|pshrdv}{w|d|q} {zmm1,zmm2,zmm9|ymm1(k1),ymm2,[rsi]|xmm1(k1)(z),xmm2,xmm3}
vpshldq zmm1,zmm2,qword ptr [rsi](1to8),7
ptest {xmm1,xmm2|xmm9,xmm9|xmm1,[rsi]}; vptest {ymm1,ymm2|ymm9,ymm9|ymm1,ymm1}
k{and|andn|or|xor|xnor|add}{b|w|d|q} k3,k1,k2; knot{b|w|d|q} k3,k1; kunpck{bw|wd|dq} k3,k1,k2
{kshiftl|kshiftr}{b|w|d|q} k3,k1,{0|3|63|200}; {kortest|ktest}{b|w|d|q} {k1,k2|k1,k1|k0,k7}
"""

LANE_FORMS = """
{movdqa|movdqu|movaps|movups|movapd|movupd} {xmm1,xmm2|xmm1,[rsi]|[rsi],xmm1}; lddqu xmm1,[rsi+3]
movdqu xmm1,[rsi+1]
{movntdq|movntps|movntpd} [rsi],xmm1; movntdqa xmm1,[rsi]; vlddqu ymm1,[rsi+3]; vmovntdq [rsi],zmm1
vmovntdqa zmm1,[rsi]
v{movdqa|movdqu|movaps|movups|movapd|movupd} {xmm1,xmm2|ymm1,[rsi]|[rsi],ymm1}; v{movntps|movntpd} [rsi],ymm1
v{movdqa32|movdqa64|movdqu8|movdqu16|movdqu32|movdqu64} {zmm1,zmm2|zmm1(k1),zmm2|zmm1(k1)(z),[rsi]|
[rsi](k1),zmm1|ymm1,[rsi]|[rsi],xmm1}
v{movaps|movupd} {zmm1(k1),zmm2|ymm1(k1)(z),[rsi]|[rsi](k1),zmm1}; vmovups xmm17,xmm18
{movd|vmovd} {xmm1,ecx|ecx,xmm1|xmm1,[rsi]|[rsi],xmm1}
{movq|vmovq} {xmm1,rcx|rcx,xmm1|xmm1,xmm2|xmm1,[rsi]|[rsi],xmm1}
{movsd|vmovsd} {xmm1,[rsi]|[rsi],xmm1}; movsd xmm1,xmm2; vmovsd xmm1,xmm2,xmm3
{movlps|movhps|movlpd|movhpd} {xmm1,[rsi]|[rsi],xmm1}
v{movlps|movhps|movlpd|movhpd} {xmm1,xmm2,[rsi]|[rsi],xmm1}
{movlhps|movhlps} xmm1,xmm2; v{movlhps|movhlps} xmm1,xmm2,xmm3
{movddup|vmovddup} xmm1,{xmm2|[rsi]}; vmovddup {ymm1,ymm2|ymm1,[rsi]|zmm1(k1),zmm2}
vpbroadcast{b|w|d|q} {ymm1,xmm2|zmm1(k1),xmm2}; vpbroadcast{b|w|d} zmm1,ecx; vpbroadcastq ymm1(k1)(z),rcx
vpbroadcastb ymm1,[rsi]; vpbroadcastb zmm1(k1),[rsi]
vpbroadcastw ymm1,[rsi]; vpbroadcastd ymm1,[rsi]; vpbroadcastq zmm1,[rsi]
{vbroadcastss|vbroadcastsd} ymm1,xmm2; vbroadcastss zmm1,dword ptr [rsi]; vbroadcastsd zmm1,[rsi]
{vbroadcasti128|vbroadcastf128} ymm1,[rsi]
{vbroadcast{i|f}32x4|vbroadcast{i|f}64x2|vbroadcast{i|f}32x8|vbroadcast{i|f}64x4} zmm1(k1),[rsi]
{vextracti128|vextractf128} {xmm1,ymm2,0|xmm1,ymm2,1|[rsi],ymm2,1}
{vextract{i|f}32x4|vextract{i|f}64x2} {xmm1,zmm2,3|xmm1(k1),zmm2,1|[rsi],zmm2,2|[rsi](k1),zmm2,1}
{vextract{i|f}32x8|vextract{i|f}64x4} {ymm1,zmm2,1|ymm1(k1)(z),zmm2,0|[rsi],zmm2,1}
{vinserti128|vinsertf128} ymm1,ymm2,{xmm3|[rsi]},{0|1}
{vinsert{i|f}32x4|vinsert{i|f}64x2} zmm1(k1),zmm2,{xmm3|[rsi]},{1|3}
{vinsert{i|f}32x8|vinsert{i|f}64x4} zmm1(k1),zmm2,{ymm3|[rsi]},{0|1}
{pextrb|pextrw|pextrd} {ecx,xmm1|[rsi],xmm1},3; pextrq {rcx,xmm1|[rsi],xmm1},1
v{pextrb|pextrw|pextrd} ecx,xmm1,2; vpextrq rcx,xmm1,1
{pinsrb|pinsrw|pinsrd} xmm1,{ecx|[rsi]},3; pinsrq xmm1,rcx,1; v{pinsrb|pinsrw|pinsrd} xmm1,xmm2,ecx,2
vpinsrq xmm1,xmm2,[rsi],1
{pshufd|pshuflw|pshufhw} xmm1,{xmm2|[rsi]},{0x1b|0x4e}
v{pshufd|pshuflw|pshufhw} {ymm1,ymm2,0x93|zmm1(k1),zmm2,0x1b}
{shufps|shufpd} xmm1,xmm2,{0x1b|0x02}; v{shufps|shufpd} {ymm1,ymm2,ymm3,0x6d|zmm1,zmm2,[rsi],0x9a}
{psadbw xmm1|vpsadbw {xmm1,xmm2|ymm1,ymm2|zmm1,zmm2}},[rsi]; vpsadbw {xmm1,xmm2,xmm3|ymm1,ymm2,ymm3|zmm1,zmm2,zmm3}
pshufb xmm1,{xmm2|[rsi]}; vpshufb {ymm1,ymm2,ymm3|zmm1,zmm2,zmm3|zmm1(k1),zmm2,[rsi]|xmm1,xmm2,xmm9}
{packsswb|packuswb|packssdw|packusdw} xmm1,{xmm2|[rsi]}
v{packsswb|packuswb|packssdw|packusdw} {ymm1,ymm2,ymm3|zmm1(k1),zmm2,[rsi]|xmm1(k2)(z),xmm2,xmm3}
v{packssdw|packusdw} zmm1,zmm2,dword ptr [rsi](1to16)
{punpck{l|h}{bw|wd|dq|qdq}|unpck{l|h}{ps|pd}} xmm1,{xmm2|[rsi]}
v{punpck{l|h}{bw|wd|dq|qdq}|unpck{l|h}{ps|pd}} {ymm1,ymm2,ymm3|zmm1(k1),zmm2,[rsi]}
vpunpck{l|h}qdq {xmm1,xmm2,xmm3|zmm1,zmm2,zmm3}
palignr xmm1,xmm2,{0|5|20|40}; vpalignr {ymm1,ymm2,ymm3,7|zmm1(k1),zmm2,zmm3,17}
valign{d|q} {zmm1,zmm2,zmm3,5|ymm1(k1),ymm2,[rsi],1}
{vpermq|vpermpd} {ymm1,ymm2,0x1b|zmm1(k1),zmm2,0x4e|ymm1,[rsi],0x93|zmm1,zmm2,zmm3|ymm1(k1)(z),ymm2,[rsi]}
{vpermd|vpermps} {ymm1,ymm2,ymm3|zmm1(k1),zmm2,[rsi]}; {vpermb|vpermw} {zmm1,zmm2,zmm3|ymm1(k1)(z),ymm2,ymm3}
{vpermi2|vpermt2}{b|w|d|q|ps|pd} {zmm1,zmm2,zmm3|ymm1(k1),ymm2,[rsi]}; vpermi2q zmm1,zmm2,qword ptr [rsi](1to8)
{vpermilps|vpermilpd} {ymm1,ymm2,0x1b|zmm1(k1),[rsi],0x6c|ymm1,ymm2,ymm3|zmm1(k1),zmm2,[rsi]}
{vperm2i128|vperm2f128} ymm1,ymm2,{ymm3|[rsi]},{0x01|0x20|0x31|0x83|0x18}
vshuf{i|f}{32x4|64x2} {zmm1,zmm2,zmm3,0x4e|zmm1(k1),zmm2,[rsi],0x93|ymm1,ymm2,ymm3,{1|2}}
vpblendd {ymm1,ymm2,ymm3,0x5a|xmm1,xmm2,[rsi],3}; pblendw xmm1,xmm2,0x5a; {blendps|blendpd} xmm1,xmm2,2
v{pblendw|blendps|blendpd} ymm1,ymm2,ymm3,0x6a
vpblendm{b|w|d|q} {zmm1(k1),zmm2,zmm3|ymm1(k1)(z),ymm2,[rsi]|zmm1,zmm2,zmm3}
{vblendmps|vblendmpd} zmm1(k1),zmm2,zmm3
{pblendvb|blendvps|blendvpd} xmm1,xmm2; {vpblendvb|vblendvps|vblendvpd} {ymm1,ymm2,ymm3,ymm4|
xmm1,xmm2,[rsi],xmm4}
{pmovzx|pmovsx}{bw|bd|bq|wd|wq|dq} xmm1,{xmm2|[rsi]}
v{pmovzx|pmovsx}{bw|bd|bq|wd|wq|dq} {ymm1,xmm2|ymm1(k1)(z),xmm2|xmm1,[rsi]}
vpmov{wb|db|qb|dw|qw|qd} {xmm1,xmm2|[rsi],ymm2|[rsi](k1),zmm2}; vpmov{wb|dw|qd} {ymm1,zmm2|xmm1(k1),ymm2}
vpmov{s|us}{wb|db|qb|dw|qw|qd} {xmm1,xmm2|[rsi](k1),zmm2|xmm1(k1)(z),xmm9}
vpmov{db|qb|qw} {xmm1,zmm2|xmm1,ymm2|xmm1(k1),zmm2|xmm1(k1)(z),ymm2}
{pmovmskb|movmskps|movmskpd} ecx,xmm1; v{pmovmskb|movmskps|movmskpd} ecx,ymm1
vpmov{b|w|d|q}2m k3,{zmm1|ymm1}; vpmovm2{b|w|d|q} {zmm1|ymm1},k1; kmov{b|w|d|q} {k3,k1|k3,[rsi]|[rsi],k3}
kmov{b|w|d} {k3,ecx|ecx,k3}; kmovq {k3,rcx|rcx,k3}; vzeroupper; vzeroall
"""

# Every width that our own kernels use.
KERNEL_FORMS = """
v{pand|pandn|por|pxor} {xmm1,xmm2,[rsi]|ymm1,ymm2,ymm3}
v{pand|pandn|por|pxor}q {xmm1,xmm2,[rsi]|ymm1,ymm2,ymm3|ymm1,ymm2,[rsi]|zmm1,zmm2,zmm3|zmm1,zmm2,[rsi]}
v{padd|psub}{b|q} {ymm1,ymm2,ymm3|zmm1,zmm2,zmm3|xmm1,xmm2,[rsi]|zmm1,zmm2,[rsi]}
v{psll|psrl}q {xmm1,xmm2,8|zmm1,zmm2,8|xmm1,[rsi],8|ymm1,[rsi],8|zmm1,[rsi],8}; v{psllv|psrlv}q ymm1,ymm2,[rsi+256]
v{prol|pror}q {xmm1,xmm2,32|ymm1,ymm2,33}; v{prolv|prorv}q {xmm1,xmm2,[rsi]|ymm1,ymm2,[rsi]|zmm1,zmm2,[rsi]}
vpternlogq {xmm1,xmm2,xmm3|xmm1,xmm2,[rsi]|ymm1,ymm2,ymm3|ymm1,ymm2,[rsi]|zmm1,zmm2,[rsi]},{0xe4|0xec}
v{pand|pandn|por|pxor|psub|padd|prolv}q {xmm1,xmm2,qword ptr [rsi](1to2)|ymm1,ymm2,qword ptr [rsi](1to4)}
vpternlogq {xmm1,xmm2,qword ptr [rsi](1to2)|ymm1,ymm2,qword ptr [rsi](1to4)},{0x28|0xe4}
vpbroadcastq {xmm1|ymm1|zmm1},{rcx|xmm2|[rsi]}; vpinsrq xmm1,xmm2,rcx,1; vpshufd xmm1,xmm2,0xee
vextract{i|f}64x2 xmm1,ymm2,1; v{movdqa|movups|movdqu} {xmm1,[rsi]|[rsi],xmm1|ymm1,ymm2}
v{movdqa64|movdqu64} {xmm1,xmm2|ymm1,ymm2|xmm1,[rsi]|zmm1,[rsi]|[rsi],ymm2|[rsi],zmm2}
"""


def forms() -> list[str]:
    """All forms as GNU as reads them, each once."""
    together = re.sub(r"\|\n", "|", GENERAL_FORMS + VECTOR_FORMS + LANE_FORMS + KERNEL_FORMS)
    sources = re.split(r"[;\n]", together)
    found = [form for source in sources for form in expanded(source)]
    return [form.replace("(", "{").replace(")", "}") for form in dict.fromkeys(found)]


def programs() -> list[str]:
    """A few instructions each, for all that goes elsewhere and for prefixes that change nothing.

    Each goes past an instruction, where it goes, and leaves no address of the code behind.
    """
    bnd, rep, *segments = (f".byte {prefix};" for prefix in ("0xf2", "0xf3", "0x26", "0x2e", "0x36", "0x3e"))
    found = []
    for prefix in ("", bnd, *segments):
        for condition in CONDITIONS:
            found += [f"{prefix} {size} j{condition} 1f; mov eax,5; 1:" for size in ("", "{disp32}")]
    for prefix in ("", bnd, *segments):
        found += [f"{prefix} {size} jmp 1f; mov eax,5; 1:" for size in ("", "{disp32}")]
        found += [
            f"lea rcx,[rip+1f]; {prefix} jmp rcx; mov eax,5; 1: mov ecx,6",
            f"lea rcx,[rip+1f]; mov [rsp-8],rcx; {prefix} jmp [rsp-8]; mov eax,5; 1: mov ecx,6; mov [rsp-8],rax",
            f"{prefix} call 1f; mov eax,5; 1: pop rcx; mov ecx,6; mov [rsp-8],rax",
            f"lea rcx,[rip+1f]; {prefix} call rcx; mov eax,5; 1: pop rcx; mov ecx,6; mov [rsp-8],rax",
            f"lea rcx,[rip+1f]; mov [rsp-8],rcx; {prefix} call [rsp-8]; mov eax,5; 1: pop rcx; mov ecx,6; "
            "mov [rsp-8],rax",
        ]
    for prefix in ("", bnd, rep, *segments):
        found += [
            f"jmp 2f; 1: mov eax,7; {prefix} ret; 2: call 1b; mov [rsp-8],rdx",
            f"jmp 2f; 1: mov eax,7; {prefix} ret 0; 2: call 1b; mov [rsp-8],rdx",
            f"push rax; lea rcx,[rip+1f]; push rcx; {prefix} ret 8; mov eax,5; 1: mov ecx,6; mov [rsp-16],rax",
        ]
    nops = ("90", "6690", "666690", "0f1f00", "660f1f440000", "66662e0f1f840000000000", "2e0f1f00", "480f1f00", "4890")
    found += [f".byte {','.join(f'0x{byte}' for byte in re.findall('..', nop))}; inc eax" for nop in nops]
    return found
