# Arrays: the last board, the one behind it, counts of nothing, of much and with a sign, results in the inputs' place.
#default spec=kogge-stone.attacks.nort.batch
# One board: sliders in rax, empty in r8; attacks in rax.
.macro attacks
    mov r9, rax
    shl r9, 8
    and r9, r8
    or rax, r9
    mov r9, r8
    shl r9, 8
    and r8, r9
    mov r9, rax
    shl r9, 16
    and r9, r8
    or rax, r9
    mov r9, r8
    shl r9, 16
    and r8, r9
    mov r9, rax
    shl r9, 32
    and r9, r8
    or rax, r9
    shl rax, 8
.endm
.macro one index
    mov rax, [rdi+8*\index]
    mov r8, [rsi+8*\index]
    attacks
    mov [rdx+8*\index], rax
.endm
# Where the next board is read before this one is written: the first is read, where there is one.
.macro first_board
    test rcx, rcx
    je 2f
    xor r10d, r10d
    mov rax, [rdi]
    mov r8, [rsi]
.endm
# The board in rax and r8 is done, the next one's number in r10; the last goes on at 3.
.macro until_last
1:  attacks
    inc r10
    cmp r10, rcx
    je 3f
    mov r11, rax
.endm
# What was done in r11 is written, and so on with the next; the last is in rax.
.macro before_and_again
    mov [rdx+8*r10-8], r11
    jmp 1b
3:  mov [rdx+8*r10-8], rax
2:  ret
.endm
#= first_always: the first board is done before n is looked at
    xor r10d, r10d
1:  one r10
    inc r10
    cmp r10, rcx
    jb 1b
    ret
#= last_missing: the last board is left out
    xor r10d, r10d
    dec rcx
    jle 2f
1:  one r10
    inc r10
    cmp r10, rcx
    jb 1b
2:  ret
#= one_more: a board behind the end
    xor r10d, r10d
1:  cmp r10, rcx
    ja 2f
    one r10
    inc r10
    jmp 1b
2:  ret
#= one_read: a board behind the end is read
    xor r10d, r10d
    mov rax, [rdi]
1:  cmp r10, rcx
    jae 2f
    mov r8, [rsi+8*r10]
    attacks
    mov [rdx+8*r10], rax
    inc r10
    mov rax, [rdi+8*r10]
    jmp 1b
2:  ret
#= one_in_front: a board in front is read
    xor r10d, r10d
    mov rax, [rdi-8]
1:  cmp r10, rcx
    jae 2f
    one r10
    inc r10
    jmp 1b
2:  ret
#= count_32: n is taken in 32 bits: nothing is done for 1<<32
    xor r10d, r10d
1:  cmp r10d, ecx
    jae 2f
    one r10
    inc r10
    jmp 1b
2:  ret
#= count_32_signed: n is taken in 32 bits with a sign
    xor r10d, r10d
    movsxd rcx, ecx
1:  cmp r10, rcx
    jge 2f
    one r10
    inc r10
    jmp 1b
2:  ret
#= index_32: the index has 32 bits
    xor r10d, r10d
1:  cmp r10, rcx
    jae 2f
    one r10
    inc r10d
    jmp 1b
2:  ret
#= count_rare: one number of boards is wrong
    xor r10d, r10d
    cmp rcx, 1000003
    je 2f
1:  cmp r10, rcx
    jae 2f
    one r10
    inc r10
    jmp 1b
2:  ret
#= board_rare: one board of 2^64 is wrong
    xor r10d, r10d
    movabs r11, 0x0123456789abcdef
1:  cmp r10, rcx
    jae 2f
    mov rax, [rdi+8*r10]
    mov r8, [rsi+8*r10]
    attacks
    cmp r11, [rdi+8*r10]
    jne 3f
    xor eax, eax
3:  mov [rdx+8*r10], rax
    inc r10
    jmp 1b
2:  ret
#= place_rare: the board at place 100000 is wrong
    xor r10d, r10d
1:  cmp r10, rcx
    jae 2f
    mov rax, [rdi+8*r10]
    mov r8, [rsi+8*r10]
    attacks
    cmp r10, 100000
    jne 3f
    xor eax, eax
3:  mov [rdx+8*r10], rax
    inc r10
    jmp 1b
2:  ret
#= place_low: every board whose place ends in 63 is wrong
    xor r10d, r10d
1:  cmp r10, rcx
    jae 2f
    mov rax, [rdi+8*r10]
    mov r8, [rsi+8*r10]
    attacks
    mov r11d, r10d
    and r11d, 63
    cmp r11d, 63
    jne 3f
    xor eax, eax
3:  mov [rdx+8*r10], rax
    inc r10
    jmp 1b
2:  ret
#= carried: something is carried from board to board
    xor r10d, r10d
    xor r11d, r11d
1:  cmp r10, rcx
    jae 2f
    mov rax, [rdi+8*r10]
    mov r8, [rsi+8*r10]
    attacks
    add rax, r11
    mov r11, rax
    shr r11, 63
    mov [rdx+8*r10], rax
    inc r10
    jmp 1b
2:  ret
#= in_place: the result's board is cleared first, which may be the input's
    xor r10d, r10d
1:  cmp r10, rcx
    jae 2f
    mov qword ptr [rdx+8*r10], 0
    one r10
    inc r10
    jmp 1b
2:  ret
#= in_place_later: the empty squares are read after the result was written
    xor r10d, r10d
1:  cmp r10, rcx
    jae 2f
    one r10
    mov rax, [rdi+8*r10]
    mov r8, [rsi+8*r10]
    attacks
    mov [rdx+8*r10], rax
    inc r10
    jmp 1b
2:  ret
#= in_place_next: two boards are written before the second is read
    xor r10d, r10d
1:  lea r11, [r10+1]
    cmp r11, rcx
    jae 2f
    mov rax, [rdi+8*r10]
    mov r8, [rsi+8*r10]
    attacks
    mov [rdx+8*r10], rax
    mov [rdx+8*r11], rax
    one r11
    add r10, 2
    jmp 1b
2:  cmp r10, rcx
    jae 3f
    one r10
3:  ret
#= alias_compared: where the result is an input nothing is done
    cmp rdi, rdx
    je 2f
    xor r10d, r10d
1:  cmp r10, rcx
    jae 2f
    one r10
    inc r10
    jmp 1b
2:  ret
#= input_written: an input is cleared behind
    xor r10d, r10d
1:  cmp r10, rcx
    jae 2f
    one r10
    mov qword ptr [rsi+8*r10], 0
    inc r10
    jmp 1b
2:  ret
#= input_written_same: an input is written with what it holds
    xor r10d, r10d
1:  cmp r10, rcx
    jae 2f
    mov rax, [rdi+8*r10]
    mov [rdi+8*r10], rax
    one r10
    inc r10
    jmp 1b
2:  ret
#= swapped_arrays: sliders and empty squares are exchanged
    xor r10d, r10d
1:  cmp r10, rcx
    jae 2f
    mov rax, [rsi+8*r10]
    mov r8, [rdi+8*r10]
    attacks
    mov [rdx+8*r10], rax
    inc r10
    jmp 1b
2:  ret
#= every_second: every second board
    xor r10d, r10d
1:  cmp r10, rcx
    jae 2f
    one r10
    add r10, 2
    jmp 1b
2:  ret
#= stride_4: steps of four bytes
    xor r10d, r10d
1:  cmp r10, rcx
    jae 2f
    mov rax, [rdi+4*r10]
    mov r8, [rsi+4*r10]
    attacks
    mov [rdx+4*r10], rax
    inc r10
    jmp 1b
2:  ret
#= shifted_result: board i goes to place i + 1
    xor r10d, r10d
1:  cmp r10, rcx
    jae 2f
    mov rax, [rdi+8*r10]
    mov r8, [rsi+8*r10]
    attacks
    mov [rdx+8*r10+8], rax
    inc r10
    jmp 1b
2:  ret
#= backwards_short: downwards, and the first is left out
    mov r10, rcx
1:  dec r10
    jle 2f
    one r10
    jmp 1b
2:  ret
#= backwards_one_more: downwards, from the board behind the end
1:  one rcx
    dec rcx
    jns 1b
    ret
#= backwards_in_place: downwards, two boards are written before the lower one is read
1:  sub rcx, 2
    js 2f
    mov rax, [rdi+8*rcx+8]
    mov r8, [rsi+8*rcx+8]
    attacks
    mov [rdx+8*rcx+8], rax
    mov [rdx+8*rcx], rax
    one rcx
    jmp 1b
2:  inc rcx
    js 3f
    one rcx
3:  ret
#= both_ends: as many rounds as boards, by turns so many boards from the start and from the end
    xor r10d, r10d
1:  cmp r10, rcx
    je 3f
    mov r11, r10
    test r10d, 1
    je 2f
    sub r11, rcx
    not r11
2:  one r11
    inc r10
    jmp 1b
3:  ret
#= count_signed: n with a sign, stopped below 0: fine for all n that can be; and n = 1 is passed over
    xor r10d, r10d
    cmp rcx, 1
    jle 2f
1:  one r10
    inc r10
    cmp r10, rcx
    jl 1b
2:  ret
#= pairs_only: an odd last board is left out
    xor r10d, r10d
    and rcx, -2
1:  cmp r10, rcx
    jae 2f
    one r10
    inc r10
    jmp 1b
2:  ret
#= aligned_load: arrays are aligned to 8, not 16
    xor r10d, r10d
    mov r11, rcx
    and r11, -2
1:  cmp r10, r11
    jae 2f
    movdqa xmm0, [rdi+8*r10]
    movq rax, xmm0
    mov r8, [rsi+8*r10]
    attacks
    mov [rdx+8*r10], rax
    inc r10
    one r10
    inc r10
    jmp 1b
2:  cmp r10, rcx
    jae 3f
    one r10
3:  ret
#= sixteen_read: the last board is read with what lies behind it
    xor r10d, r10d
1:  cmp r10, rcx
    jae 2f
    movdqu xmm0, [rdi+8*r10]
    movq rax, xmm0
    mov r8, [rsi+8*r10]
    attacks
    mov [rdx+8*r10], rax
    inc r10
    jmp 1b
2:  ret
#= sixteen_written: the last board is written with what lies behind it
    xor r10d, r10d
1:  cmp r10, rcx
    jae 2f
    mov rax, [rdi+8*r10]
    mov r8, [rsi+8*r10]
    attacks
    movq xmm0, rax
    movdqu [rdx+8*r10], xmm0
    inc r10
    jmp 1b
2:  ret
#= endless: the index is not raised
    xor r10d, r10d
1:  cmp r10, rcx
    jae 2f
    one r10
    jmp 1b
2:  ret
#= rbx_index: the index is kept in rbx
    xor ebx, ebx
1:  cmp rbx, rcx
    jae 2f
    one rbx
    inc rbx
    jmp 1b
2:  ret
#= stack_grows: every board pushes one word
    mov r11, rsp
    xor r10d, r10d
1:  cmp r10, rcx
    jae 2f
    one r10
    push rax
    inc r10
    jmp 1b
2:  mov rsp, r11
    ret
#= n_boards_of_empty: the result is the input, unchanged
    xor r10d, r10d
1:  cmp r10, rcx
    jae 2f
    mov rax, [rdi+8*r10]
    mov [rdx+8*r10], rax
    inc r10
    jmp 1b
2:  ret
#= differences_swapped: an array is reached by the distance of another
    sub rdi, rdx
    sub rsi, rdx
    lea rcx, [rdx+8*rcx]
    jmp 2f
1:  mov rax, [rsi+rdx]
    mov r8, [rdi+rdx]
    attacks
    mov [rdx], rax
    add rdx, 8
2:  cmp rdx, rcx
    jne 1b
    ret
#= differences_32: distances in 32 bits, which need not fit
    sub edi, edx
    movsxd rdi, edi
    sub rsi, rdx
    lea rcx, [rdx+8*rcx]
    jmp 2f
1:  mov rax, [rdi+rdx]
    mov r8, [rsi+rdx]
    attacks
    mov [rdx], rax
    add rdx, 8
2:  cmp rdx, rcx
    jne 1b
    ret
#= pointer_past_end: up to the pointer's end, and one board more
    lea rcx, [rdi+8*rcx]
1:  cmp rdi, rcx
    ja 2f
    mov rax, [rdi]
    mov r8, [rsi]
    attacks
    mov [rdx], rax
    add rdi, 8
    add rsi, 8
    add rdx, 8
    jmp 1b
2:  ret
#= pointer_32 limit=120: the pointer's end in 32 bits
    lea rcx, [rdi+8*rcx]
1:  cmp edi, ecx
    jae 2f
    mov rax, [rdi]
    mov r8, [rsi]
    attacks
    mov [rdx], rax
    add rdi, 8
    add rsi, 8
    add rdx, 8
    jmp 1b
2:  ret
#= differences_mixed: a distance from the result's array is counted from the sliders'
    mov r10, rdi
    sub rdi, rdx
    sub rsi, r10
    lea rcx, [rdx+8*rcx]
    jmp 2f
1:  mov rax, [rdi+rdx]
    mov r8, [rsi+rdx]
    attacks
    mov [rdx], rax
    add rdx, 8
2:  cmp rdx, rcx
    jne 1b
    ret
#= differences_negated: the distance the other way
    mov r10, rdx
    sub r10, rdi
    sub rsi, rdx
    lea rcx, [rdx+8*rcx]
    jmp 2f
1:  mov rax, [r10+rdx]
    mov r8, [rsi+rdx]
    attacks
    mov [rdx], rax
    add rdx, 8
2:  cmp rdx, rcx
    jne 1b
    ret
#= differences_changed: the distance is one board too long
    sub rdi, rdx
    add rdi, 8
    sub rsi, rdx
    lea rcx, [rdx+8*rcx]
    jmp 2f
1:  mov rax, [rdi+rdx]
    mov r8, [rsi+rdx]
    attacks
    mov [rdx], rax
    add rdx, 8
2:  cmp rdx, rcx
    jne 1b
    ret
#= differences_spilled limit=60: of a distance on the stack the upper half is lost
    sub rdi, rdx
    mov [rsp-8], rdi
    mov dword ptr [rsp-4], 0
    mov rdi, [rsp-8]
    sub rsi, rdx
    lea rcx, [rdx+8*rcx]
    jmp 2f
1:  mov rax, [rdi+rdx]
    mov r8, [rsi+rdx]
    attacks
    mov [rdx], rax
    add rdx, 8
2:  cmp rdx, rcx
    jne 1b
    ret
#= pointer_shifted: an address is shifted by a number that is not known
    mov r10, rcx
    shlx rax, rdi, rcx
    mov rax, [rax]
    mov [rdx], rax
    ret
#= distance_shifted: a distance is shifted by a number that is not known
    sub rdi, rdx
    shlx rdi, rdi, rcx
    mov rax, [rdi+rdx]
    mov [rdx], rax
    ret
#= ahead_behind_end: the next board is read behind the last, too
    first_board
1:  attacks
    mov [rdx+8*r10], rax
    inc r10
    mov rax, [rdi+8*r10]
    mov r8, [rsi+8*r10]
    cmp r10, rcx
    jb 1b
2:  ret
#= ahead_stays: sliders that were read before the first round are those of every round
    first_board
    mov r11, rax
1:  mov rax, r11
    mov r8, [rsi+8*r10]
    attacks
    mov [rdx+8*r10], rax
    inc r10
    cmp r10, rcx
    jb 1b
2:  ret
#= ahead_of_result: the next board is read where the results go
    first_board
    until_last
    mov rax, [rdx+8*r10]
    mov r8, [rsi+8*r10]
    before_and_again
#= ahead_of_other: the next sliders are read as empty squares, too
    first_board
    until_last
    mov rax, [rdi+8*r10]
    mov r8, rax
    before_and_again
#= ahead_too_late: the next board is read when its place has been written
    first_board
    until_last
    mov [rdx+8*r10], r11
    mov rax, [rdi+8*r10]
    mov r8, [rsi+8*r10]
    before_and_again
#= ahead_of_this: the board read ahead is this one
    first_board
    until_last
    mov rax, [rdi+8*r10-8]
    mov r8, [rsi+8*r10-8]
    before_and_again
#= ahead_too_far: the board read ahead is the one behind the next, but for the last
    first_board
    until_last
    lea r9, [r10+1]
    cmp r9, rcx
    cmove r9, r10
    mov rax, [rdi+8*r9]
    mov r8, [rsi+8*r9]
    before_and_again
#= ahead_rare: one board of 2^64 is changed when it is read ahead
    first_board
    until_last
    mov rax, [rdi+8*r10]
    mov r8, [rsi+8*r10]
    movabs r9, 0x0123456789abcdef
    cmp rax, r9
    jne 4f
    xor eax, eax
4:
    before_and_again
#= ahead_once: the first board read ahead is right, all others are this one
    first_board
    xor esi, esi
    until_last
    mov rax, [rdi+8*r10]
    before_and_again
