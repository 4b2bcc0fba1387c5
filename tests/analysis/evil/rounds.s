# Loops over arrays that carry something from round to round: right on the first board, or on few of them.
#default spec=kogge-stone.attacks.nort.batch
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
.macro loop look, change
    xor r10d, r10d
1:  cmp r10, rcx
    jae 2f
    mov rax, [rdi+8*r10]
    mov r8, [rsi+8*r10]
    attacks
    \look
    mov [rdx+8*r10], rax
    \change
    inc r10
    jmp 1b
2:
.endm
#= raised_within: the return address is lost where a signal comes
    loop "", "sub rsp, -768; add rsp, -768"
    ret
#= raised_within_late: only in the hundredth round
    loop "", "cmp r10, 99; jne 3f; add rsp, 768; sub rsp, 768; 3:"
    ret
#= dropped_and_read: a word that a raised stack pointer has dropped
    sub rsp, 256
    mov qword ptr [rsp], 0
    loop "or rax, [rsp]", "add rsp, 256; sub rsp, 256"
    add rsp, 256
    ret
#= dropped_saved: a saved register waits where the stack pointer passes by
    sub rsp, 256
    mov [rsp], rbx
    loop "", "add rsp, 256; sub rsp, 256"
    mov rbx, [rsp]
    add rsp, 256
    ret
#= later_by_pointer: a word of the red zone, changed by another pointer
    mov qword ptr [rsp-8], 0
    loop "or rax, [rsp-8]", "lea r11, [rsp-4]; mov byte ptr [r11], 1"
    ret
#= later_by_flag: the carry that the round before has left
    loop "adc rax, 0", "bt rax, 63"
    ret
#= result_read_in_place: the result may be an input, which the round has overwritten
    loop "mov [rdx+8*r10], rdi; mov rax, [rdi+8*r10]; mov r8, [rsi+8*r10]; attacks", ""
    ret
#= ahead_leaves: one loop goes on into another with a board read ahead, and the second leaves on another board's bit
    test rcx, rcx
    je 9f
    xor r10d, r10d
    mov r11, [rdi]
1:  test r11, 1
    jnz 2f
    mov rax, r11
    mov r8, [rsi+8*r10]
    attacks
    mov [rdx+8*r10], rax
    inc r10
    cmp r10, rcx
    jae 9f
    mov r11, [rdi+8*r10]
    jmp 1b
2:  test r11, 1
    jz 9f
    mov rax, r11
    mov r8, [rsi+8*r10]
    attacks
    mov [rdx+8*r10], rax
    inc r10
    cmp r10, rcx
    jae 9f
    mov r11, [rdi+8*r10]
    jmp 2b
9:  ret
