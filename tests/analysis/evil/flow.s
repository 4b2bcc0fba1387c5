# Ways through code that are not what they seem.
.macro nort
    mov rax, rdi
    shl rax, 8
.endm
#= falls_off: there is no ret
    nort
#= falls_into_data: a branch past the end, taken for one board
    nort
    cmp rdi, 5
    je falls_into_data+64
    ret
#= endless: a loop that never ends
    nort
1:  jmp 1b
#= endless_rare: for one board
    nort
1:  cmp rdi, 31
    je 1b
    ret
#= too_long: 2^64 rounds for the empty board
    nort
    mov rcx, rdi
1:  dec rcx
    jne 1b
    ret
#= middle: a jump into an immediate, which is ret behind add rax,1
    nort
    jmp 1f+2
1:  movabs rcx, 0xc30148c48348c3c0
    ret
#= middle_rare: for one board, into an immediate: xor eax,eax; ret
    nort
    cmp rdi, 0x777
    je 1f+1
1:  mov ecx, 0x00c3c031
    ret
#= middle_of_displacement: into a displacement
    nort
    test edi, edi
    js 1f+3
1:  lea rcx, [rcx+0x00c3c031]
    ret
#= overlapping: two streams of instructions share bytes
    nort
    cmp rdi, 3
    jb 1f+1
1:  .byte 0xb9, 0x48, 0xff, 0xc0, 0xc3
    ret
#= jump_behind_prefix: a jump past a lock prefix is right, into it is not: cmpxchg of the return address
    nort
    cmp rdi, 1
    je 1f
    ret
1:  .byte 0xf0
    inc qword ptr [rsp]
    ret
#= computed: four bits of the board decide where to
    nort
    lea rcx, [rip+1f]
    mov edx, edi
    and edx, 15
    add rcx, rdx
    jmp rcx
1:  ret
#= computed_few: the board's lowest bit decides
    nort
    mov ecx, edi
    and ecx, 1
    lea rdx, [rip+1f]
    add rcx, rdx
    jmp rcx
1:  ret
    xor eax, eax
    ret
#= computed_into_middle: the second place is the middle of an instruction
    nort
    mov ecx, edi
    and ecx, 1
    lea rdx, [rip+1f]
    add rcx, rdx
    jmp rcx
1:  .byte 0x3c, 0x31, 0xc3
    nop
    ret
#= register_jump: a jump to the board
    nort
    jmp rdi
#= register_entry: a jump to a register that nobody has set
    nort
    jmp r11
#= call_board: a call of the board
    nort
    call rdi
    ret
#= call_undefined: a call of another file
    nort
    call function_of_another
    ret
#= call_local: a call of another function of the file
    nort
    call falls_off
    ret
#= call_next: call and pop, as position-independent code of old
    call 1f
1:  pop rcx
    sub rcx, 5
    lea rdx, [rip+call_next]
    sub rcx, rdx
    nort
    lea rax, [rax+rcx+1]
    ret
#= call_plt: a call by way of the table
    nort
    call [rip+function_of_another@GOTPCREL]
    ret
#= before_itself: the board's lowest bit decides between the end and the byte before the function
    pop rcx
    nort
    and edi, 1
    lea rdx, [rip+1f]
    imul rdi, rdi, 1f-before_itself+1
    sub rdx, rdi
    jmp rdx
1:  push rcx
    ret
#= tail: a jump to another file
    nort
    jmp function_of_another
#= tail_rare: for one board
    nort
    cmp rdi, 12
    je function_of_another
    ret
#= tail_self: a jump to itself, never ended
    nort
    jmp tail_self
#= ret_pushed: ret to a pushed board
    nort
    push rdi
    ret
#= ret_pushed_rare: for one board
    nort
    cmp rdi, 123
    jne 1f
    push rdi
1:  ret
#= ret_twice: the return address is popped and another is there
    nort
    pop rcx
    ret
#= ret_to_own: ret to a place in itself, once too often
    nort
    lea rcx, [rip+1f]
    push rcx
    ret
1:  push rcx
    xor eax, eax
    ret
#= far_return: retf pops a selector
    nort
    retf
#= far_return_64: the same with REX.W
    nort
    rex.w retf
#= far_return_imm: retf 8
    nort
    retf 8
#= far_jump: a far jump through memory
    nort
    .byte 0xff, 0x6c, 0x24, 0xf0
    ret
#= far_jump_64: the same with REX.W
    nort
    .byte 0x48, 0xff, 0x6c, 0x24, 0xf0
    ret
#= far_call: a far call through memory
    nort
    .byte 0xff, 0x5c, 0x24, 0xf0
    ret
#= far_jump_direct: ea is no instruction in 64 bits
    nort
    .byte 0xea, 0, 0, 0, 0, 0, 0
    ret
#= iret: iretq pops five words
    nort
    iretq
#= sysret: sysret faults
    nort
    sysretq
#= syscall: a system call with the board's number
    nort
    syscall
    ret
#= int80: a system call of old
    nort
    int 0x80
    ret
#= int3: a breakpoint, for one board
    nort
    cmp rdi, 8
    jne 1f
    int3
1:  ret
#= int1: f1
    nort
    .byte 0xf1
    ret
#= ud2: no instruction, for one board
    nort
    cmp rdi, 8
    jne 1f
    ud2
1:  ret
#= ud1: no instruction
    nort
    ud1 eax, ecx
    ret
#= hlt: hlt faults
    nort
    hlt
    ret
#= cli: cli faults
    nort
    cli
    ret
#= in: in faults
    nort
    in al, dx
    ret
#= mov_cr: a control register faults
    nort
    mov rcx, cr0
    ret
#= rdmsr: rdmsr faults
    nort
    rdmsr
    ret
#= rdpmc: rdpmc faults, mostly
    nort
    mov rsi, rax
    rdpmc
    mov rax, rsi
    ret
#= wbinvd: wbinvd faults
    nort
    wbinvd
    ret
#= monitor: mwait faults
    nort
    mwait
    ret
#= vmcall: a call of a hypervisor that is none
    nort
    vmcall
    ret
#= xbegin: what a transaction writes is lost when it aborts
    nort
    xbegin 1f
    xor eax, eax
    xend
    ret
1:  ret
#= xabort: xabort outside of a transaction does nothing, xend faults
    nort
    xend
    ret
#= xtest: flags by whether a transaction runs
    nort
    xtest
    jne 1f
    ret
1:  xor eax, eax
    ret
#= umwait: waits for the board
    nort
    umwait edi
    ret
#= divide: div by 0
    nort
    mov rcx, rax
    xor edx, edx
    mov rax, rdi
    div rdi
    mov rax, rcx
    ret
#= divide_overflow: a quotient of more than 64 bits
    nort
    mov rcx, rax
    mov rdx, rdi
    mov esi, 3
    div rsi
    mov rax, rcx
    ret
#= idiv_overflow: the least number by -1
    nort
    mov rcx, rax
    mov rax, rdi
    cqo
    mov rsi, -1
    idiv rsi
    mov rax, rcx
    ret
#= table_bound: a switch of four, bounded by 4 instead of 3
    mov ecx, edi
    and ecx, 7
    cmp ecx, 4
    ja 5f
    lea rdx, [rip+10f]
    movsxd rcx, dword ptr [rdx+4*rcx]
    add rcx, rdx
    jmp rcx
1:  nort
    ret
5:  nort
    ret
    .pushsection .rodata.table_bound,"a",@progbits
    .balign 4
10: .long 1b-10b, 1b-10b, 5b-10b, 1b-10b
    .popsection
#= table_signed: a switch bounded by a comparison with sign
    mov ecx, edi
    cmp ecx, 3
    jg 5f
    movsxd rcx, ecx
    lea rdx, [rip+10f]
    movsxd rcx, dword ptr [rdx+4*rcx]
    add rcx, rdx
    jmp rcx
1:  nort
    ret
5:  nort
    ret
    .pushsection .rodata.table_signed,"a",@progbits
    .balign 4
10: .long 1b-10b, 1b-10b, 5b-10b, 1b-10b
    .popsection
#= table_entry: one entry leads one byte too far
    mov ecx, edi
    and ecx, 3
    lea rdx, [rip+10f]
    movsxd rcx, dword ptr [rdx+4*rcx]
    add rcx, rdx
    jmp rcx
1:  nort
    ret
5:  nort
    ret
    .pushsection .rodata.table_entry,"a",@progbits
    .balign 4
10: .long 1b-10b, 1b-10b+1, 5b-10b, 1b-10b
    .popsection
#= table_outside: one entry leads to another function
    mov ecx, edi
    and ecx, 3
    lea rdx, [rip+10f]
    movsxd rcx, dword ptr [rdx+4*rcx]
    add rcx, rdx
    jmp rcx
1:  nort
    ret
    .pushsection .rodata.table_outside,"a",@progbits
    .balign 4
10: .long 1b-10b, 1b-10b, table_entry-10b, 1b-10b
    .popsection
#= endbr_missing_data: data where code is run
    jmp 1f
    .quad 0x0123456789abcdef
1:  nort
    .byte 0x06
    ret
#= nop_that_reads: a nop with an operand reads nothing; the load behind it does
    nort
    nop dword ptr [rdi]
    mov ecx, [rdi+4]
    ret
#= ud0: ud0 with an operand
    nort
    .byte 0x0f, 0xff, 0xc0
    ret
#= xop: XOP, which no processor of today has
    nort
    .byte 0x8f, 0xe9, 0x78, 0x81, 0xc0
    ret
#= three_d_now: 3DNow!
    nort
    .byte 0x0f, 0x0f, 0xc0, 0x9e
    ret
#= far_pointer: lss loads the stack's selector
    nort
    .byte 0x48, 0x0f, 0xb2, 0x64, 0x24, 0xf0
    ret
