# Memory that is not the routine's own, or holds what nobody knows.
.macro nort
    mov rax, rdi
    shl rax, 8
.endm
#= below_red_zone: 136 below rsp a signal handler may write
    mov [rsp-136], rdi
    mov rax, [rsp-136]
    shl rax, 8
    ret
#= below_red_zone_by_byte: the lowest byte of a word lies below the red zone
    mov [rsp-129], rdi
    mov rax, [rsp-129]
    shl rax, 8
    ret
#= below_red_zone_vector: the lowest of 32 bytes lie below
    vmovq xmm0, rdi
    vmovdqu [rsp-144], ymm0
    vmovdqu ymm1, [rsp-144]
    vmovq rax, xmm1
    shl rax, 8
    ret
#= popped: what was popped is lost
    push rdi
    pop rcx
    sub rsp, 256
    add rsp, 256
    push rdi
    add rsp, 8
    mov rax, [rsp-136]
    shl rax, 8
    ret
#= popped_deep: a word far down, after rsp has come back
    sub rsp, 512
    mov [rsp], rdi
    add rsp, 512
    mov rax, [rsp-512]
    shl rax, 8
    ret
#= popped_and_pushed: read again when rsp is down once more
    sub rsp, 512
    mov [rsp], rdi
    add rsp, 512
    sub rsp, 512
    mov rax, [rsp]
    shl rax, 8
    add rsp, 512
    ret
#= uninitialised: a word of the stack that was never written
    nort
    add rax, [rsp-8]
    ret
#= uninitialised_half: the upper half of a word was never written
    mov [rsp-8], edi
    mov rax, [rsp-8]
    shl rax, 8
    ret
#= uninitialised_register: r10 at the entry
    nort
    add rax, r10
    ret
#= uninitialised_rax: rax at the entry
    test rax, rax
    jne 1f
    xor eax, eax
    ret
1:  nort
    ret
#= uninitialised_xmm: xmm5 at the entry
    nort
    movq rcx, xmm5
    add rax, rcx
    ret
#= uninitialised_mask: k1 at the entry
    nort
    kmovq rcx, k1
    add rax, rcx
    ret
#= uninitialised_flags: the carry at the entry
    mov rax, rdi
    lea rcx, [rdi]
    adc rcx, 0
    shl rcx, 8
    mov rax, rcx
    ret
#= uninitialised_second: rsi, where the routine has one argument
    nort
    cmp rsi, 7
    jne 1f
    xor eax, eax
1:  ret
#= above_return: the caller's stack
    nort
    add rax, [rsp+8]
    ret
#= above_return_written: the caller's stack is written
    nort
    mov [rsp+8], rax
    ret
#= above_return_kept: the caller's stack is written and restored: another thread or a handler may look
    nort
    mov rcx, [rsp+8]
    mov [rsp+8], rax
    mov [rsp+8], rcx
    ret
#= above_return_straddled: sixteen bytes at the return address
    movdqu xmm0, [rsp]
    nort
    ret
#= far_above: a page up
    nort
    mov rcx, [rsp+4096]
    ret
#= return_address_written: the return address is overwritten by the board
    nort
    mov [rsp], rdi
    ret
#= return_address_plus: the return address one further
    nort
    add qword ptr [rsp], 1
    ret
#= return_address_half: its lowest byte for one board
    nort
    cmp rdi, 12345
    jne 1f
    mov byte ptr [rsp], 0
1:  ret
#= return_address_by_vector: 32 bytes at rsp-24 take the return address along
    nort
    vpxor xmm0, xmm0, xmm0
    vmovdqu [rsp-24], ymm0
    ret
#= fixed_address: a load from 0x1000
    nort
    mov rcx, [0x1000]
    ret
#= null: a load from 0
    nort
    xor ecx, ecx
    mov rcx, [rcx]
    ret
#= board_as_address: a load from the board
    nort
    mov rcx, [rdi]
    ret
#= board_as_address_rare: for one board
    nort
    bt rdi, 63
    jnc 1f
    bt rdi, 62
    jc 1f
    mov rcx, [rdi]
1:  ret
#= board_as_address_store: a store to the board
    nort
    mov [rdi], rax
    ret
#= prefetch_then_load: a load of what was only prefetched
    nort
    prefetcht0 [rdi]
    mov ecx, [rdi]
    ret
#= code_written: a store to its own code
    nort
    mov byte ptr [rip+1f], 0xc3
1:  ret
#= constants_written: a store to its constants
    .pushsection .rodata.constants_written,"a",@progbits
10: .quad 0
    .popsection
    nort
    mov [rip+10b], rax
    ret
#= constants_kept: a store to its constants of what is there
    .pushsection .rodata.constants_kept,"a",@progbits
10: .quad 0
    .popsection
    nort
    mov qword ptr [rip+10b], 0
    ret
#= code_and_constants_or: or [constant],0 writes
    .pushsection .rodata.code_and_constants_or,"a",@progbits
10: .quad 0
    .popsection
    nort
    or qword ptr [rip+10b], 0
    ret
#= code_written_masked: a masked store of nothing faults not; of something it does
    nort
    kxnorw k1, k1, k1
    vmovdqu64 [rip+1f]{k1}, xmm0
1:  ret
#= modified_immediate: the immediate of an instruction is written first
    mov dword ptr [rip+1f-4], 0
    mov rax, rdi
    shl rax, 8
    add rax, 0
1:  ret
#= table_outside: a table of eight words by a square of 64
    .pushsection .rodata.table_outside,"a",@progbits
    .balign 8
10: .quad 0, 0, 0, 0, 0, 0, 0, 0
    .popsection
    nort
    mov ecx, edi
    and ecx, 15
    lea rdx, [rip+10b]
    add rax, [rdx+8*rcx]
    ret
#= table_outside_rare: the index is 8 for a full board only
    .pushsection .rodata.table_outside_rare,"a",@progbits
    .balign 8
10: .quad 0, 0, 0, 0, 0, 0, 0, 0
    .popsection
    nort
    popcnt rcx, rdi
    shr ecx, 3
    lea rdx, [rip+10b]
    add rax, [rdx+8*rcx]
    ret
#= table_negative: an index with its sign
    .pushsection .rodata.table_negative,"a",@progbits
    .balign 8
10: .quad 0, 0, 0, 0, 0, 0, 0, 0
    .popsection
    nort
    movsx rcx, dil
    sar rcx, 5
    lea rdx, [rip+10b]
    add rax, [rdx+8*rcx]
    ret
#= table_unbounded: an index of 64 bits
    .pushsection .rodata.table_unbounded,"a",@progbits
10: .quad 0
    .popsection
    nort
    lea rdx, [rip+10b]
    add rax, [rdx+8*rdi]
    ret
#= table_scaled_over: an index so great that it wraps round the address space
    .pushsection .rodata.table_scaled_over,"a",@progbits
    .balign 8
10: .quad 0, 0, 0, 0
    .popsection
    nort
    mov rcx, rdi
    shr rcx, 61
    shl rcx, 61
    or rcx, 4
    lea rdx, [rip+10b]
    add rax, [rdx+8*rcx]
    ret
#= table_last_straddled: the last entry read eight bytes at a place of four
    .pushsection .rodata.table_last_straddled,"a",@progbits
10: .long 0, 0, 0, 0
    .popsection
    nort
    mov ecx, edi
    and ecx, 3
    lea rdx, [rip+10b]
    add rax, [rdx+4*rcx]
    ret
#= table_wrong_entry: one entry of 64 is wrong
    .pushsection .rodata.table_wrong_entry,"a",@progbits
    .balign 8
10: .fill 41, 8, 0
    .quad 1
    .fill 22, 8, 0
    .popsection
    nort
    mov rcx, rdi
    shr rcx, 58
    lea rdx, [rip+10b]
    add rax, [rdx+8*rcx]
    ret
#= gather: a gather with indices of the board
    nort
    vmovq xmm1, rdi
    vpcmpeqd xmm2, xmm2, xmm2
    vpgatherqq xmm0, [rsp+8*xmm1], xmm2
    ret
#= maskmov: maskmovdqu writes at rdi
    nort
    maskmovdqu xmm0, xmm1
    ret
#= vmaskmov: a load under a mask of the board
    nort
    vmovq xmm1, rdi
    vpmaskmovq xmm0, xmm1, [rsp+8]
    ret
#= masked_fault: a masked load in the caller's memory, for one board
    nort
    kmovq k1, rdi
    vmovdqu64 ymm0{k1}{z}, [rsp-16]
    ret
#= masked_load_two: a masked load of its own word, and with some boards of the caller's
    mov rax, rdi
    and edi, 3
    kmovb k1, edi
    vmovdqu64 xmm0{k1}{z}, [rsp]
    shl rax, 8
    ret
#= masked_store_two: a masked store into its own word, and with some boards over the return address
    mov rax, rdi
    and edi, 3
    kmovb k1, edi
    vmovdqu64 [rsp-8]{k1}, xmm0
    shl rax, 8
    ret
#= masked_store_code: a masked store into the code, but with no board that has a1 empty
    mov rax, rdi
    and edi, 1
    kmovb k1, edi
    vmovdqu64 [rip+1f]{k1}, xmm0
    shl rax, 8
    ret
1:  .quad 0, 0
#= masked_table: a masked load of a table, with some boards behind its end
    .pushsection .rodata.masked_table,"a",@progbits
    .balign 8
10: .quad 0, 0, 0, 0
    .popsection
    mov ecx, edi
    and ecx, 7
    lea rdx, [rip+10b]
    kmovb k1, edi
    vmovdqu64 xmm0{k1}{z}, [rdx+8*rcx]
    nort
    vmovq rcx, xmm0
    add rax, rcx
    ret
#= masked_fixed: a masked load of a fixed address, with some boards
    nort
    and edi, 1
    kmovb k1, edi
    mov ecx, 4096
    vmovdqu64 xmm0{k1}{z}, [rcx]
    ret
#= masked_address: a masked load of an address that is a board
    nort
    kmovb k1, edi
    vmovdqu64 xmm0{k1}{z}, [rdi]
    ret
#= compress_store: a compressed store over the return address
    nort
    kmovq k1, rdi
    vpcompressq [rsp-24]{k1}, ymm0
    ret
#= clflush: clflush of the board
    nort
    clflush [rdi]
    ret
#= bit_string: bts with a bit number of the board writes anywhere
    nort
    bts [rsp-8], rdi
    ret
#= bit_string_read: bt with a bit number of the board reads anywhere
    nort
    bt [rsp-8], rdi
    ret
#= cmpxchg: a comparison and exchange with the caller's stack
    nort
    cmpxchg [rsp+8], rcx
    ret
#= red_zone_across_push: a word of the red zone is overwritten by a push
    mov [rsp-8], rdi
    push rax
    pop rcx
    mov rax, [rsp-8]
    shl rax, 8
    ret
#= red_zone_across_call: a call pushes over the red zone
    mov [rsp-8], rdi
    call 1f
1:  pop rcx
    mov rax, [rsp-8]
    shl rax, 8
    ret
#= partly_overwritten: one byte of a kept word is overwritten
    mov [rsp-16], rdi
    mov byte ptr [rsp-11], 0
    mov rax, [rsp-16]
    shl rax, 8
    ret
#= overlapping_words: two words that overlap by four bytes
    mov [rsp-16], rdi
    mov dword ptr [rsp-12], 0
    mov rax, [rsp-16]
    shl rax, 8
    ret
#= stack_by_index: a word of the stack at a place that the board chooses
    mov [rsp-8], rdi
    mov ecx, edi
    and ecx, 8
    mov rax, [rsp-8+rcx]
    shl rax, 8
    ret
#= result_block_beyond spec=sliders.pair: a third word of the results' two
    mov [rcx+16], rax
    ret
#= result_block_read spec=sliders.pair: what lies in the results' block beforehand
    mov rax, [rcx]
    mov [rcx+8], rax
    ret
#= result_block_aligned spec=sliders.pair: the results' block is aligned to 8 alone
    pxor xmm0, xmm0
    movaps [rcx], xmm0
    ret
#= result_block_front spec=sliders.pair: the word in front of the results
    mov qword ptr [rcx-8], 0
    ret
