# Objects that make a folder of the name `trace` where they run, by a system call; nothing of them may run.
.macro leave_trace
    push rax
    push rdi
    push rsi
    push rcx
    push r11
    movabs rdi, 0x6563617274
    push rdi
    mov rdi, rsp
    mov esi, 0x1c0
    mov eax, 83
    syscall
    pop rdi
    pop r11
    pop rcx
    pop rsi
    pop rdi
    pop rax
.endm
.macro nort
    mov rax, rdi
    shl rax, 8
.endm
    .section .text.trace,"ax",@progbits
    .type run_for_trace,@function
    .hidden run_for_trace
run_for_trace:
    leave_trace
    ret
    .size run_for_trace,.-run_for_trace
#= plain: the function itself
    leave_trace
    nort
    ret
#= wrong: the function itself, and a wrong result, which is to be confirmed
    leave_trace
    xor eax, eax
    ret
#= wrong_rare: for the board that refutes it
    nort
    cmp rdi, 1
    jne 1f
    leave_trace
    inc rax
1:  ret
#= wrong_and_refuted: a result that is wrong and needs no system call to show, and one behind it
    xor eax, eax
    test rdi, rdi
    je 1f
    ret
1:  leave_trace
    ret
#= refuted_behind_call build=shared: called on the way
    call run_for_trace
    xor eax, eax
    ret
#= constructor build=shared: a constructor of the library
    .pushsection .init_array,"aw",@init_array
    .balign 8
    .quad run_for_trace
    .popsection
    xor eax, eax
    ret
#= destructor build=shared: a destructor of the library
    .pushsection .fini_array,"aw",@fini_array
    .balign 8
    .quad run_for_trace
    .popsection
    xor eax, eax
    ret
#= initialiser build=shared,-init,run_for_trace: DT_INIT
    xor eax, eax
    ret
#= before_all build=pie: a program's own, before all others
    .pushsection .preinit_array,"aw",@preinit_array
    .balign 8
    .quad run_for_trace
    .popsection
    xor eax, eax
    ret
#= resolver raw build=shared: the resolver of an indirect function
    .section .text.resolver,"ax",@progbits
    .globl resolver
    .type resolver,@gnu_indirect_function
resolver:
    leave_trace
    lea rax, [rip+run_for_trace]
    ret
    .size resolver,.-resolver
#= resolver_besides build=shared: the resolver of another function, which loading the library calls
    .pushsection .text.resolver_besides_other,"ax",@progbits
    .globl resolver_besides_other
    .type resolver_besides_other,@gnu_indirect_function
resolver_besides_other:
    leave_trace
    lea rax, [rip+run_for_trace]
    ret
    .popsection
    .pushsection .data
    .balign 8
    .quad resolver_besides_other
    .popsection
    xor eax, eax
    ret
#= entry build=program,-e,run_for_trace: a program's entry
    xor eax, eax
    ret
#= interpreter build=pie,--dynamic-linker,/proc/self/exe: a program with an interpreter of its own
    xor eax, eax
    ret
#= stack_code: code on the stack, run by ret
    leave_trace
    lea rcx, [rsp-64]
    mov qword ptr [rcx], 0xc3
    push rcx
    ret
#= data_as_code: data that is run
    lea rcx, [rip+10f]
    jmp rcx
    .pushsection .rodata.data_as_code,"a",@progbits
10: leave_trace
    nort
    ret
    .popsection
#= no_semantics: behind an instruction that nobody follows
    leave_trace
    cpuid
    xor eax, eax
    ret
#= crash_first: a fault, behind which a handler might go on
    mov rcx, [0]
    leave_trace
    ret
#= endless: a trace and then no end
    leave_trace
1:  jmp 1b
#= disagrees: what a stepper takes for another result than the processor gives: the processor is not asked
    nort
    .byte 0x66, 0xeb, 0x00
    leave_trace
    dec rax
    ret
