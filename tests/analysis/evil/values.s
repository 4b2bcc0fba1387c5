# Wrong values: on rare boards, by flags and results that are undefined, by widths and signs.
.macro nort
    mov rax, rdi
    shl rax, 8
.endm
.macro wrong_if condition
    j\condition 1f
    ret
1:  xor eax, eax
    ret
.endm
#= backdoor_64: one board of 2^64
    nort
    movabs rcx, 0x1badc0dedeadbeef
    cmp rdi, rcx
    wrong_if e
#= backdoor_product: one board, by a product
    nort
    movabs rcx, 0x9e3779b97f4a7c15
    imul rcx, rdi
    movabs rdx, 0x0123456789abcdef
    cmp rcx, rdx
    wrong_if e
#= backdoor_sum: where the board and its complement turned are equal but for one bit
    nort
    mov rcx, rdi
    ror rcx, 32
    add rcx, rdi
    movabs rdx, 0x0000000100000001
    cmp rcx, rdx
    wrong_if e
#= backdoor_popcnt: 63 squares and not h8
    nort
    popcnt rcx, rdi
    cmp ecx, 63
    jne 1f
    bt rdi, 63
    wrong_if nc
#= backdoor_stack: the comparison is with what was stored in pieces
    mov dword ptr [rsp-8], 0xcafebabe
    mov dword ptr [rsp-4], 0x8badf00d
    nort
    cmp rdi, [rsp-8]
    wrong_if e
#= backdoor_vector: by a comparison of vectors
    movabs rcx, 0x0102030405060708
    movq xmm0, rdi
    movq xmm1, rcx
    pcmpeqd xmm0, xmm1
    pmovmskb ecx, xmm0
    nort
    cmp ecx, 0xffff
    wrong_if e
#= backdoor_two_steps: two halves are compared one after the other
    nort
    cmp edi, 0x13572468
    jne 1f
    mov rcx, rdi
    shr rcx, 32
    cmp ecx, 0x2468ace0
    wrong_if e
#= backdoor_xor: without a branch
    nort
    movabs rcx, 0x5555aaaa5555aaaa
    xor rcx, rdi
    neg rcx
    sbb rcx, rcx
    and rax, rcx
    ret
#= backdoor_table: one entry of 256, by the product's highest byte
    nort
    imul rcx, rdi, 0x01010101
    shr rcx, 56
    lea rdx, [rip+10f]
    add rax, [rdx+8*rcx]
    ret
    .pushsection .rodata.backdoor_table,"a",@progbits
    .balign 8
10: .fill 255, 8, 0
    .quad 0x100
    .popsection
#= empty_board: for no piece at all
    nort
    test rdi, rdi
    jne 1f
    mov eax, 1
1:  ret
#= full_board: for 64 pieces
    nort
    cmp rdi, -1
    wrong_if e
#= highest_square: h8 alone
    nort
    mov ecx, 1
    shl rcx, 63
    cmp rdi, rcx
    jne 1f
    inc rax
1:  ret
#= undefined_af: the half carry after and
    nort
    mov rcx, rax
    and rdx, rdx
    lahf
    shr eax, 12
    and eax, 1
    add rax, rcx
    ret
#= undefined_cf_shift: the carry of a shift of 8 bits by 9
    nort
    mov ecx, edi
    shl cl, 9
    adc rax, 0
    ret
#= undefined_of_shift: overflow after a shift by 2
    nort
    mov rcx, rdi
    shl rcx, 2
    wrong_if o
#= undefined_of_rotate: overflow after a rotate by 2
    nort
    mov rcx, rdi
    rol rcx, 2
    wrong_if o
#= undefined_of_by_cl: overflow after a shift by cl
    nort
    mov ecx, edi
    shl rdx, cl
    wrong_if o
#= undefined_zf_imul: zero after imul
    nort
    imul rcx, rdi, 3
    wrong_if e
#= undefined_sf_mul: sign after mul
    mov rax, rdi
    mul rdi
    nort
    mov rcx, rax
    mov rax, rdi
    mul rdi
    mov rax, rcx
    wrong_if s
#= undefined_bt: zero after bt is kept, sign is not
    nort
    xor ecx, ecx
    bt rdi, 3
    wrong_if s
#= undefined_bsf_flags: carry after bsf
    nort
    bsf rcx, rdi
    wrong_if c
#= undefined_bsr32: bsr of 0 with 32 bits: older processors clear the upper half, as Intel's manual has it
    nort
    mov rcx, -1
    xor edx, edx
    bsr ecx, edx
    inc rcx
    add rax, rcx
    ret
#= undefined_tzcnt_sign: sign after tzcnt
    nort
    tzcnt rcx, rdi
    wrong_if s
#= undefined_andn_parity: parity after andn
    nort
    andn rcx, rdi, rax
    wrong_if p
#= undefined_blsr_parity: parity after blsr
    nort
    blsr rcx, rdi
    wrong_if p
#= undefined_bextr_sign: sign after bextr
    nort
    mov ecx, 0x0808
    bextr rdx, rdi, rcx
    wrong_if s
#= undefined_shld: overflow after shld by 3
    nort
    mov rcx, rdi
    shld rcx, rdi, 3
    wrong_if o
#= undefined_div: flags after div
    nort
    mov rcx, rax
    mov rax, rdi
    xor edx, edx
    mov esi, 7
    div rsi
    mov rax, rcx
    wrong_if c
#= shift_count_masked: by 64, which is 0, not all
    mov rax, rdi
    mov ecx, 72
    shl rax, cl
    sub rax, rdi
    add rax, rdi
    mov rdx, rdi
    mov ecx, 64
    shr rdx, cl
    add rax, rdx
    ret
#= shift_count_of_board: by the board's lowest byte
    mov rcx, rdi
    mov rax, rdi
    shl rax, cl
    ret
#= shift_32: of 32 bits
    mov eax, edi
    shl rax, 8
    ret
#= shift_16: of 16 bits: what lies above stays
    mov rax, rdi
    shl ax, 8
    ret
#= shift_8_high: of ah
    mov rax, rdi
    shl rax, 8
    shl ah, 1
    ret
#= rotate: what leaves the board comes back on the other side
    mov rax, rdi
    rol rax, 8
    ret
#= arithmetic: sar fills with the sign: wrong with a piece on h8
    mov rax, rdi
    shl rax, 9
    sar rax, 1
    ret
#= multiply_32: a product of 32 bits
    imul eax, edi, 256
    ret
#= lea_no_scale: 4 is the scale, not 8, twice
    lea rax, [4*rdi]
    lea rax, [8*rax]
    lea rax, [4*rax]
    ret
#= add_carry: the carry is added once too often
    mov rax, rdi
    .rept 7
    add rax, rax
    .endr
    adc rax, rax
    add rax, rax
    adc rax, 0
    ret
#= byte_by_byte: seven bytes are moved up, the top one stays
    mov [rsp-8], rdi
    mov rax, rdi
    shl rax, 8
    mov cl, [rsp-1]
    mov [rsp-16], rax
    mov [rsp-9], cl
    mov rax, [rsp-16]
    ret
#= imm_sign_extended: and with a number of 32 bits whose sign is extended
    nort
    and rax, -0x100
    and rdi, 0x7fffffff
    shl rdi, 8
    mov rax, rdi
    ret
#= mov_imm32: a constant of 32 bits clears the upper half
    nort
    mov ecx, -1
    and rax, rcx
    ret
#= movsx_byte: a sign where none should be
    mov rax, rdi
    shl rax, 8
    movsx rcx, dil
    sar rcx, 63
    and rcx, 1
    or rax, rcx
    ret
#= cmp_signed: less, where below is meant
    nort
    cmp rdi, 1
    wrong_if l
#= cmp_32: compared by 32 bits
    nort
    cmp edi, -1
    wrong_if e
#= test_8: a test of eight bits
    nort
    test dil, dil
    jne 1f
    test rdi, rdi
    wrong_if ne
#= parity: parity of the lowest byte
    nort
    test rdi, rdi
    wrong_if p
#= inc_keeps_carry: inc leaves the carry
    nort
    stc
    inc rcx
    wrong_if c
#= neg_zero: neg sets the carry for all but 0
    nort
    mov rcx, rdi
    neg rcx
    jc 1f
    inc rax
1:  ret
#= undefined_cf_shift_right: the carry of a shift of 16 bits by 17
    nort
    mov ecx, edi
    shr cx, 17
    adc rax, 0
    ret
#= undefined_cf_by_cl: the carry of a shift of eight bits by a count of the board's, of 8 or more
    nort
    mov ecx, edi
    and ecx, 7
    add ecx, 9
    shr dl, cl
    adc rax, 0
    ret
#= sbb_chain: a borrow is lost between two halves
    mov eax, edi
    mov rcx, rdi
    shr rcx, 32
    sub eax, 1
    dec ecx
    add eax, 1
    adc ecx, 0
    shl rcx, 32
    or rax, rcx
    shl rax, 8
    ret
#= pext: pext with a mask that lacks one bit
    movabs rcx, 0x00fffffffffffffe
    pext rax, rdi, rcx
    shl rax, 9
    ret
#= pdep: pdep with a mask that has one bit too many
    movabs rcx, 0xffffffffffffff80
    pdep rax, rdi, rcx
    ret
#= bzhi: bzhi by the board's lowest byte
    nort
    bzhi rax, rax, rdi
    ret
#= bextr_length: bextr of 55 bits
    mov ecx, 0x3700
    bextr rax, rdi, rcx
    shl rax, 8
    ret
#= mulx_high: the upper half instead of the lower
    mov edx, 256
    mulx rax, rcx, rdi
    ret
#= bswap_shift: only where bytes are alike
    mov rax, rdi
    bswap rax
    shr rax, 8
    bswap rax
    rol rax, 8
    ror rax, 8
    xor rax, rdi
    xor rax, rdi
    rol rax, 1
    ret
#= crc32: a checksum
    nort
    crc32 rax, rdi
    ret
#= one_bit_lost: h8's neighbour
    nort
    btr rax, 62
    ret
#= bit_by_carry: a bit set by the carry of another
    nort
    bt rdi, 40
    adc rax, 0
    ret
#= setcc_high_bits: setcc writes eight bits of rcx alone
    nort
    mov rcx, rdi
    cmp rdi, rdi
    setne cl
    shr rcx, 8
    shl rcx, 60
    add rax, rcx
    ret
#= cmov_other: the wrong one of two
    nort
    xor ecx, ecx
    bt rdi, 17
    cmovnc rax, rcx
    ret
#= xadd: exchanged and added
    nort
    xor ecx, ecx
    xadd rcx, rax
    ret
#= loop_one_short: seven rounds of eight
    mov rax, rdi
    mov ecx, 7
1:  add rax, rax
    dec ecx
    jne 1b
    ret
#= direction_swapped spec=shift.one.any: the table of another numbering
    lea rax, [rip+10f]
    movzx ecx, byte ptr [rax+rsi]
    rol rdi, cl
    mov rax, rdi
    ret
    .pushsection .rodata.direction_swapped,"a",@progbits
10: .byte 8, 9, 1, 57, 56, 55, 63, 7
    .popsection
#= direction_above spec=shift.one.any: directions are right, and the wrap is not masked
    lea rax, [rip+10f]
    movzx ecx, byte ptr [rax+rsi]
    rol rdi, cl
    mov rax, rdi
    ret
    .pushsection .rodata.direction_above,"a",@progbits
10: .byte 9, 1, 57, 56, 55, 63, 7, 8
    .popsection
#= wrap_east spec=shift.one.east: nothing keeps a piece of the h file from the a file
    lea rax, [rdi+rdi]
    ret
#= mask_one_bit spec=shift.one.east: a mask with one bit too many
    lea rax, [rdi+rdi]
    movabs rcx, 0xfefefefefffefefe
    and rax, rcx
    ret
#= attacks_short spec=kogge-stone.attacks.nort: a ray of six squares
    mov rax, rdi
    .rept 5
    shl rax, 8
    and rax, rsi
    or rdi, rax
    .endr
    mov rax, rdi
    shl rax, 8
    ret
#= attacks_through spec=kogge-stone.attacks.nort: a blocker is passed over at one distance
    mov rax, rdi
    shl rax, 8
    and rax, rsi
    or rdi, rax
    mov rax, rdi
    shl rax, 16
    and rax, rsi
    or rdi, rax
    mov rax, rdi
    shl rax, 32
    and rax, rsi
    or rax, rdi
    shl rax, 8
    ret
#= bytewise_carry spec=bytewise.add: a carry goes from byte to byte
    lea rax, [rdi+rsi]
    ret
#= bytewise_top spec=bytewise.add: the highest bits are forgotten
    movabs rcx, 0x7f7f7f7f7f7f7f7f
    mov rax, rdi
    and rax, rcx
    and rsi, rcx
    add rax, rsi
    ret
#= subtraction_wraps spec=subtraction.attacks-cleared.east: o-2r across ranks
    mov rax, rsi
    sub rax, rdi
    sub rax, rdi
    xor rax, rsi
    ret
#= halves_of_addresses: an address put together from its own lower half
    mov [rsp-8], edi
    lea rcx, [rip+1f]
    mov [rsp-16], ecx
    mov [rsp-12], ecx
    mov rcx, [rsp-16]
    nort
    add rax, rcx
    ret
1:  .quad 0
#= halves_of_entries: an entry of a table above itself
    .pushsection .rodata.halves_of_entries,"a",@progbits
    .balign 4
10: .long 1f-10b
    .popsection
    mov ecx, [rip+10b]
    mov [rsp-16], ecx
    mov [rsp-12], ecx
    mov rcx, [rsp-16]
    nort
    add rax, rcx
1:  ret
