# Vectors: lanes, masks, upper halves, rounding, encodings that fault.
.macro in_
    movq xmm0, rdi
.endm
.macro out_
    movq rax, xmm0
    ret
.endm
.macro nort
    mov rax, rdi
    shl rax, 8
.endm
#= psllw: sixteen bits at a time
    in_
    psllw xmm0, 8
    out_
#= pslld: 32 bits at a time
    in_
    pslld xmm0, 8
    out_
#= pslldq_two: two bytes instead of one
    in_
    pslldq xmm0, 2
    out_
#= psrldq: the other way
    in_
    psrldq xmm0, 1
    out_
#= psllq_register_count: the count's upper bits make it too great
    in_
    movq xmm1, rdi
    pcmpeqd xmm2, xmm2
    psrlq xmm2, 63
    psllq xmm2, 3
    por xmm2, xmm1
    psllq xmm0, xmm2
    out_
#= psllq_upper_count: the count's upper 64 bits do not count
    in_
    movq xmm2, rdi
    pslldq xmm2, 8
    psllq xmm0, xmm2
    out_
#= upper_lane: the result is taken from the upper lane
    in_
    psllq xmm0, 8
    punpckhqdq xmm0, xmm0
    out_
#= upper_lane_entry: what lay in the upper lane at the entry
    movlps xmm1, [rsp]
    movq xmm0, rdi
    movsd xmm1, xmm0
    psllq xmm1, 8
    punpckhqdq xmm1, xmm1
    movq rcx, xmm1
    nort
    add rax, rcx
    ret
#= upper_256_kept: legacy SSE keeps what lies above 128 bits
    vmovq xmm0, rdi
    psllq xmm0, 8
    vextracti128 xmm1, ymm2, 1
    pxor xmm2, xmm2
    vextracti128 xmm1, ymm2, 1
    por xmm0, xmm1
    out_
#= upper_256_cleared: VEX clears it: the upper half is lost that held the board
    vmovq xmm1, rdi
    vinserti128 ymm0, ymm0, xmm1, 1
    vpxor xmm0, xmm0, xmm0
    vextracti128 xmm0, ymm0, 1
    psllq xmm0, 8
    out_
#= zeroupper: vzeroupper clears what held the board
    vmovq xmm1, rdi
    vinserti128 ymm0, ymm0, xmm1, 1
    vzeroupper
    vextracti128 xmm0, ymm0, 1
    psllq xmm0, 8
    out_
#= zeroupper_evex: vzeroupper leaves zmm16
    vmovq xmm1, rdi
    vinserti64x2 ymm16, ymm16, xmm1, 1
    vzeroupper
    vextracti64x2 xmm0, ymm16, 1
    vpsrlq xmm0, xmm0, 8
    out_
#= mask_of_entry: a mask that nobody has set
    in_
    vpsllq xmm1, xmm0, 8
    vmovdqa64 xmm0{k1}, xmm1
    out_
#= mask_of_board: a mask of the board
    in_
    kmovq k1, rdi
    vpsllq xmm0{k1}, xmm0, 8
    out_
#= mask_zeroing: zeroed where the mask is 0
    in_
    kmovq k1, rdi
    vpsllq xmm0{k1}{z}, xmm0, 8
    out_
#= mask_k0: k0 as a mask means none, as a register it is one
    in_
    kxorq k0, k0, k0
    vpsllq xmm0, xmm0, 7
    kmovq rcx, k0
    out_
#= mask_width: kmovb takes eight bits, the ninth is lost
    mov ecx, edi
    kmovb k1, ecx
    kmovq rcx, k1
    shl rcx, 8
    mov rax, rcx
    ret
#= mask_shift: kshiftlq of a board by 8 by way of 32 bits
    kmovd k1, edi
    kshiftlq k1, k1, 8
    kmovq rax, k1
    ret
#= mask_compare: a comparison writes zeros above its elements
    nort
    kmovq k1, rdi
    vpcmpeqq k1, xmm0, xmm0
    kmovq rcx, k1
    sub rcx, 2
    add rax, rcx
    ret
#= mask_compare_masked: a masked comparison gives 0 where the mask is 0
    nort
    kmovq k2, rdi
    vpcmpeqq k1{k2}, xmm0, xmm0
    kmovq rcx, k1
    sub rcx, 3
    add rax, rcx
    ret
#= ternlog: one entry of the table is wrong
    in_
    vpsllq xmm1, xmm0, 8
    vpternlogq xmm0, xmm1, xmm1, 0xc4
    out_
#= ternlog_merge: merged with a mask whose bit is 0
    in_
    kxorq k1, k1, k1
    vpternlogq xmm0{k1}, xmm0, xmm0, 0
    out_
#= broadcast_32: a broadcast of 32 bits
    mov [rsp-8], rdi
    vpbroadcastd xmm0, [rsp-8]
    psllq xmm0, 8
    out_
#= broadcast_embedded_32: an embedded broadcast of 32 bits
    mov [rsp-8], rdi
    vpxor xmm0, xmm0, xmm0
    vpord xmm0, xmm0, [rsp-8]{1to4}
    vpsllq xmm0, xmm0, 8
    out_
#= disp8_scaled: the displacement of one byte is scaled by EVEX: -8 is -64 there
    mov [rsp-8], rdi
    .byte 0x62, 0xf1, 0xfe, 0x48, 0x6f, 0x44, 0x24, 0xff
    vpsllq xmm0, xmm0, 8
    out_
#= rounding_sae: embedded rounding has no registers of 128 bits: the bits mean 512
    in_
    vpsllq xmm0, xmm0, 8
    .byte 0x62, 0xf1, 0xfd, 0x18, 0x58, 0xc0
    out_
#= rounding_register: vaddpd with embedded rounding, where the board is taken as a number
    in_
    vpsllq xmm0, xmm0, 8
    vxorpd xmm1, xmm1, xmm1
    vaddpd zmm0, zmm0, zmm1, {rz-sae}
    out_
#= convert: through a double: 53 bits
    cvtsi2sd xmm0, rdi
    cvttsd2si rax, xmm0
    shl rax, 8
    ret
#= convert_rounding: by MXCSR's rounding
    mov rax, rdi
    shr rax, 11
    cvtsi2sd xmm0, rax
    cvtsd2si rax, xmm0
    shl rax, 19
    ret
#= add_double: 0 + board as a double: -0, the board 1<<55, becomes 0, and NaNs are made quiet
    in_
    psllq xmm0, 8
    xorpd xmm1, xmm1
    addsd xmm0, xmm1
    out_
#= max_double: maxpd with itself flushes what is denormal under DAZ
    in_
    psllq xmm0, 8
    maxpd xmm0, xmm0
    out_
#= shuffle_bytes_high: pshufb with an index whose highest bit is set gives 0
    in_
    movabs rcx, 0x86850403020100ff
    movq xmm1, rcx
    pshufb xmm0, xmm1
    out_
#= shuffle_bytes_board: pshufb by the board's own bytes
    in_
    pshufb xmm0, xmm0
    out_
#= palignr_over: palignr by 17 takes zeros from above
    in_
    pxor xmm1, xmm1
    palignr xmm1, xmm0, 17
    movq rax, xmm1
    shl rax, 9
    ret
#= pshufd: two words are exchanged
    in_
    psllq xmm0, 8
    pshufd xmm0, xmm0, 0xb1
    out_
#= unpack: two boards in one word
    in_
    psllq xmm0, 8
    punpckldq xmm0, xmm0
    out_
#= movss_merge: movss to a register keeps what lies above
    movq xmm1, rdi
    psllq xmm1, 8
    movss xmm0, xmm1
    out_
#= movsd_merge: movsd to a register keeps the upper lane, of the entry
    movq xmm1, rdi
    psllq xmm1, 8
    movsd xmm0, xmm1
    movhlps xmm2, xmm0
    movq rcx, xmm2
    movq rax, xmm0
    and ecx, 1
    add rax, rcx
    ret
#= pinsr: 32 bits are put in
    pxor xmm0, xmm0
    pinsrd xmm0, edi, 0
    psllq xmm0, 8
    out_
#= pextr: 32 bits are taken out
    in_
    psllq xmm0, 8
    pextrd eax, xmm0, 0
    ret
#= pmovmskb: the highest bits of eight bytes
    in_
    pmovmskb eax, xmm0
    shl rax, 8
    ret
#= pcmp_signed: pcmpgtq is signed
    in_
    pxor xmm1, xmm1
    pcmpgtq xmm1, xmm0
    psllq xmm0, 8
    pandn xmm1, xmm0
    movdqa xmm0, xmm1
    out_
#= paddb: bytes do not carry
    in_
    .rept 8
    paddb xmm0, xmm0
    .endr
    out_
#= paddusw: a sum that stops at its greatest
    in_
    psllq xmm0, 7
    paddusw xmm0, xmm0
    out_
#= pmuludq: products of the lower halves
    in_
    mov ecx, 256
    movq xmm1, rcx
    pmuludq xmm0, xmm1
    out_
#= pabs: absolute values
    in_
    psllq xmm0, 8
    pabsd xmm0, xmm0
    out_
#= pblendvb: by xmm0's highest bits, as implied
    movq xmm1, rdi
    psllq xmm1, 8
    movq xmm0, rdi
    pxor xmm2, xmm2
    pblendvb xmm2, xmm1, xmm0
    movq rax, xmm2
    ret
#= ptest: zero by and, not by equality
    in_
    movabs rcx, 0x00ff00ff00ff00ff
    movq xmm1, rcx
    nort
    ptest xmm0, xmm1
    jne 1f
    xor eax, eax
1:  ret
#= vpermq: lanes are exchanged
    vmovq xmm0, rdi
    vpermq ymm0, ymm0, 0x4e
    vpsllq xmm0, xmm0, 8
    out_
#= vpermb: bytes by indices of the board
    vmovq xmm0, rdi
    vpermb zmm0, zmm0, zmm0
    out_
#= vpsllvq: a count of 64 gives 0
    in_
    mov ecx, 64
    movq xmm1, rcx
    vpsllvq xmm0, xmm0, xmm1
    out_
#= vprolq: a rotate
    in_
    vprolq xmm0, xmm0, 8
    out_
#= vpconflict: comparisons among elements
    in_
    vpconflictq xmm0, xmm0
    out_
#= vpopcnt: pieces are counted
    in_
    vpopcntq xmm0, xmm0
    out_
#= gf2p8affine: another matrix
    in_
    movabs rcx, 0x8040201008040201
    movq xmm1, rcx
    gf2p8affineqb xmm0, xmm1, 0
    out_
#= pclmul: a product without carries by 257
    in_
    mov ecx, 257
    movq xmm1, rcx
    pclmulqdq xmm0, xmm1, 0
    out_
#= aes: a round of AES
    in_
    aesenc xmm0, xmm0
    out_
#= sha: a round of SHA
    in_
    sha1nexte xmm0, xmm0
    out_
#= evex_zeroing_memory: zeroing with a store faults
    nort
    .byte 0x62, 0xf1, 0xfd, 0x89, 0x7f, 0x44, 0x24, 0xff
    ret
#= evex_zeroing_k0: zeroing without a mask faults
    in_
    .byte 0x62, 0xf1, 0xfd, 0x88, 0x6f, 0xc0
    out_
#= evex_reserved: a reserved bit of EVEX faults
    in_
    .byte 0x62, 0xf1, 0xf9, 0x08, 0x6f, 0xc0
    out_
#= evex_broadcast_register: the broadcast bit with registers of integers faults
    in_
    .byte 0x62, 0xf1, 0xfd, 0x18, 0xef, 0xc0
    out_
#= evex_length: a vector length of 3 faults
    in_
    .byte 0x62, 0xf1, 0xfd, 0x68, 0x6f, 0xc0
    out_
#= evex_rounding_length: the rounding bits are the length's: 512 bits, all of zmm0 cleared but what is there
    in_
    .byte 0x62, 0xf1, 0xfd, 0x78, 0x58, 0xc0
    out_
#= gather_same: a gather whose registers are the same faults
    nort
    .byte 0xc4, 0xe2, 0xf9, 0x91, 0x04, 0xc4
    ret
#= kmov_vvvv: kmovq with a second source faults
    nort
    .byte 0xc4, 0xe1, 0xf0, 0x90, 0xc8
    ret
#= seed_by_words abi=wiki lanes=2 spec=subtraction.attacks-cleared.east: the seed's four instructions, of words
    movdqa xmm0, xmm2
    pandn xmm0, xmm3
    psubq xmm0, xmm2
    pxor xmm0, xmm3
    ret
