# What relocations say, or would: in the code, in constants, in front of the function, dynamic ones.
.macro nort
    mov rax, rdi
    shl rax, 8
.endm
.macro zeros name
    .pushsection .rodata.\name,"a",@progbits
    .balign 8
10: .quad 0, 0
    .popsection
.endm
# An addition of 0 whose four bytes a relocation of this kind fills in.
.macro filled kind, symbol=thing
    nort
    .reloc .+2, \kind, \symbol
    add rax, 0x10000000
    sub rax, 0x10000000
    ret
.endm
    .section .rodata.thing,"a",@progbits
    .globl thing
    .quad 1, 2, 3
    .set thing, .-16
    .size thing, 16
    .section .text.another,"ax",@progbits
another:
    ret
    .data
changing: .quad 0
    .section .tdata,"awT",@progbits
    .type threads_own,@tls_object
threads_own: .quad 0
#= rodata_pc32: a constant is the distance to another section; in the file it is 0
    zeros rodata_pc32
    .pushsection .rodata.rodata_pc32_b,"a",@progbits
11: .long 10b - .
    .popsection
    nort
    movsxd rcx, dword ptr [rip+11b]
    add rax, rcx
    ret
#= rodata_pc64: the same in eight bytes
    zeros rodata_pc64
    .pushsection .rodata.rodata_pc64_b,"a",@progbits
11: .quad 10b - .
    .popsection
    nort
    add rax, [rip+11b]
    ret
#= rodata_abs64: a constant is an address
    zeros rodata_abs64
    .pushsection .rodata.rodata_abs64_b,"a",@progbits
11: .quad 10b
    .popsection
    nort
    add rax, [rip+11b]
    ret
#= rodata_abs64_low: the lowest byte of an address
    zeros rodata_abs64_low
    .pushsection .rodata.rodata_abs64_low_b,"a",@progbits
11: .byte 0
    .reloc 11b, R_X86_64_8, 10b
    .popsection
    nort
    movzx ecx, byte ptr [rip+11b]
    add rax, rcx
    ret
#= rodata_to_data: the distance to what can be written
    .pushsection .rodata.rodata_to_data,"a",@progbits
11: .long changing - .
    .popsection
    nort
    movsxd rcx, dword ptr [rip+11b]
    add rax, rcx
    ret
#= rodata_undefined: the distance to what the file does not have
    .pushsection .rodata.rodata_undefined,"a",@progbits
11: .long nowhere_in_this_file - .
    .popsection
    nort
    movsxd rcx, dword ptr [rip+11b]
    add rax, rcx
    ret
#= rodata_plt: a distance by way of the PLT
    .pushsection .rodata.rodata_plt,"a",@progbits
11: .long 0
    .reloc 11b, R_X86_64_PLT32, thing
    .popsection
    nort
    movsxd rcx, dword ptr [rip+11b]
    add rax, rcx
    ret
#= rodata_size: a constant is the size of a symbol
    .pushsection .rodata.rodata_size,"a",@progbits
11: .long 0
    .reloc 11b, R_X86_64_SIZE32, thing
    .popsection
    nort
    movsxd rcx, dword ptr [rip+11b]
    add rax, rcx
    ret
#= rodata_to_code_distance: a distance to the function, which lies 64 in front here
    .pushsection .rodata.rodata_to_code_distance,"a",@progbits
11: .long rodata_to_code_distance - .
    .popsection
    nort
    movsxd rcx, dword ptr [rip+11b]
    add rax, rcx
    add rax, 64
    ret
#= rodata_to_other_code: a distance to another function
    .pushsection .rodata.rodata_to_other_code,"a",@progbits
11: .long another - .
    .popsection
    nort
    movsxd rcx, dword ptr [rip+11b]
    add rax, rcx
    ret
#= rodata_second_unread: a relocation of a word that no instruction names, but an index reaches
    zeros rodata_second_unread
    .pushsection .rodata.rodata_second_unread_b,"a",@progbits
11: .long 0
    .long 10b - .
    .popsection
    nort
    lea rcx, [rip+11b]
    mov edx, edi
    and edx, 1
    movsxd rcx, dword ptr [rcx+4*rdx]
    add rax, rcx
    ret
#= own_section_reloc raw: constants behind the function in its section, with a relocation
    .section .text.own_section_reloc,"ax",@progbits
    .globl own_section_reloc
    .type own_section_reloc,@function
own_section_reloc:
    nort
    movsxd rcx, dword ptr [rip+1f]
    add rax, rcx
    ret
    .size own_section_reloc,.-own_section_reloc
    .balign 16
1:  .long thing - .
#= own_section_reloc_abs raw: the same with an address
    .section .text.own_section_reloc_abs,"ax",@progbits
    .globl own_section_reloc_abs
    .type own_section_reloc_abs,@function
own_section_reloc_abs:
    nort
    add rax, [rip+1f]
    ret
    .size own_section_reloc_abs,.-own_section_reloc_abs
    .balign 16
1:  .quad thing
#= own_section_reloc_undefined raw: the same with what the file does not have
    .section .text.own_section_reloc_undefined,"ax",@progbits
    .globl own_section_reloc_undefined
    .type own_section_reloc_undefined,@function
own_section_reloc_undefined:
    nort
    movsxd rcx, dword ptr [rip+1f]
    add rax, rcx
    ret
    .size own_section_reloc_undefined,.-own_section_reloc_undefined
    .balign 16
1:  .long elsewhere - .
#= constant_in_code: a word among the code that a linker fills with a distance, 64 in this layout
    .pushsection .rodata.constant_in_code,"a",@progbits
    .balign 64
10: .quad 0
    .popsection
    nort
    movsxd rcx, dword ptr [rip+1f]
    lea rdx, [rip+1f]
    add rcx, rdx
    lea rdx, [rip+constant_in_code+64]
    sub rcx, rdx
    add rax, rcx
    ret
1:  .long 10b - .
#= immediate_pc32: an immediate that is filled with a distance
    zeros immediate_pc32
    nort
    .reloc .+1, R_X86_64_PC32, 10b
    mov ecx, 0
    movsxd rcx, ecx
    sub rcx, 64-8-4
    sub rcx, 4
    add rax, rcx
    ret
#= displacement_read: a displacement that the linker sets is read as a number
    zeros displacement_read
    nort
1:  add rax, [rip+10b]
    movsxd rcx, dword ptr [rip+1b+3]
    lea rdx, [rip+1b+7]
    add rcx, rdx
    lea rdx, [rip+displacement_read+64]
    sub rcx, rdx
    add rax, rcx
    ret
#= before_start raw: a relocation in front of the function reaches two bytes into it
    .section .text.before_start,"ax",@progbits
    .byte 0x90, 0x90
    .globl before_start
    .type before_start,@function
before_start:
    .reloc before_start-2, R_X86_64_PC32, thing
    nort
    ret
    .size before_start,.-before_start
#= before_start_abs raw: one of eight bytes in front of the function, whose upper half is the function's first bytes
    .section .text.before_start_abs,"ax",@progbits
    .byte 0x90, 0x90, 0x90, 0x90
    .globl before_start_abs
    .type before_start_abs,@function
before_start_abs:
    .reloc before_start_abs-4, R_X86_64_64, thing
    nort
    ret
    .size before_start_abs,.-before_start_abs
#= before_start_undefined raw: one for what the file does not have
    .section .text.before_start_undefined,"ax",@progbits
    .byte 0x90
    .globl before_start_undefined
    .type before_start_undefined,@function
before_start_undefined:
    .reloc before_start_undefined-1, R_X86_64_PC32, elsewhere
    nort
    ret
    .size before_start_undefined,.-before_start_undefined
#= behind_end raw: a relocation of the last byte, ret, reaches out of the function
    .section .text.behind_end,"ax",@progbits
    .globl behind_end
    .type behind_end,@function
behind_end:
    nort
    .reloc ., R_X86_64_PC32, thing
    ret
    .size behind_end,.-behind_end
    .quad 0
#= over_opcode: a relocation over an opcode
    .reloc .+1, R_X86_64_PC32, thing
    nort
    ret
#= over_ret: a relocation over the last bytes
    nort
    .reloc .-3, R_X86_64_PC32, thing
    ret
#= filled_8: one byte
    filled R_X86_64_8
#= filled_pc8: one byte
    filled R_X86_64_PC8
#= filled_16: two bytes
    filled R_X86_64_16
#= filled_pc16: two bytes
    filled R_X86_64_PC16
#= filled_32: four bytes of an address
    filled R_X86_64_32
#= filled_32s: four bytes of an address
    filled R_X86_64_32S
#= filled_64: eight bytes of an address
    filled R_X86_64_64
#= filled_pc64: eight bytes of a distance
    filled R_X86_64_PC64
#= filled_pc32: four bytes of a distance, which are no displacement
    filled R_X86_64_PC32
#= filled_plt32: four bytes of a distance
    filled R_X86_64_PLT32
#= filled_size32: a symbol's size
    filled R_X86_64_SIZE32
#= filled_size64: a symbol's size
    filled R_X86_64_SIZE64
#= filled_got32: a place in the table of addresses
    filled R_X86_64_GOT32
#= filled_gotpc32: the distance to the table of addresses
    filled R_X86_64_GOTPC32, _GLOBAL_OFFSET_TABLE_
#= filled_gotoff64: a distance from the table of addresses
    filled R_X86_64_GOTOFF64
#= filled_gotpcrel: a distance to an entry
    filled R_X86_64_GOTPCREL
#= filled_gotpcrelx: a distance to an entry
    filled R_X86_64_GOTPCRELX
#= filled_tpoff32: a distance in the thread's block
    filled R_X86_64_TPOFF32, threads_own
#= filled_dtpoff32: a distance in the module's block
    filled R_X86_64_DTPOFF32, threads_own
#= filled_gottpoff: the distance to an entry
    filled R_X86_64_GOTTPOFF, threads_own
#= filled_tlsgd: the distance to a pair of entries
    filled R_X86_64_TLSGD, threads_own
#= filled_relative: a relocation that only loaders know
    filled R_X86_64_RELATIVE
#= filled_copy: a relocation that only loaders know
    filled R_X86_64_COPY
#= kind_unknown patch=relocation:.rela.text.kind_unknown:0:r_type:99: a relocation that nobody knows
    filled R_X86_64_32
#= kind_of_loader patch=relocation:.rela.text.kind_of_loader:0:r_type:37: IRELATIVE in an object
    filled R_X86_64_32
#= symbol_far patch=relocation:.rela.text.symbol_far:0:r_sym:99999: a relocation against a symbol that there is not
    filled R_X86_64_PC32
#= symbol_none patch=relocation:.rela.text.symbol_none:0:r_sym:0: a relocation without a symbol: a fixed address
    zeros symbol_none
    nort
    add rax, [rip+10b]
    ret
#= offset_far patch=relocation:.rela.text.offset_far:0:r_offset:0x7fffffffffff: a relocation far outside its section
    zeros offset_far
    nort
    add rax, [rip+10b]
    ret
#= addend_far patch=relocation:.rela.text.addend_far:0:r_addend:0x7fffffffffffffff: a distance that four bytes do not hold
    zeros addend_far
    nort
    add rax, [rip+10b]
    ret
#= addend_outside: 64 bytes behind the section's end
    zeros addend_outside
    nort
    add rax, [rip+10b+64]
    ret
#= type_rel patch=section:.rela.text.type_rel:sh_type:9;section:.rela.text.type_rel:sh_entsize:16: relocations without addends
    zeros type_rel
    nort
    add rax, [rip+10b]
    ret
#= type_crel patch=section:.rela.text.type_crel:sh_type:0x40000014: relocations in LLVM's compact form
    zeros type_crel
    nort
    add rax, [rip+10b]
    ret
#= got_interposed: a constant that everybody sees: a library's loader may find another's of its name
    .pushsection .rodata.got_interposed,"a",@progbits
    .balign 8
    .globl got_interposed_word
got_interposed_word: .quad 0
    .popsection
    nort
    mov rcx, [rip+got_interposed_word@GOTPCREL]
    add rax, [rcx]
    ret
#= type_relr patch=section:.rela.text.type_relr:sh_type:19;section:.rela.text.type_relr:sh_entsize:8: packed relocations
    zeros type_relr
    nort
    add rax, [rip+10b]
    ret
#= type_hidden patch=section:.rela.text.type_hidden:sh_type:1: relocations that are called data: the linker leaves 0
    zeros type_hidden
    nort
    add rax, [rip+10b]
    lea rcx, [rip+1f]
1:  ret
#= twice: of two relocations of one place both are applied, the second to what the first has left; both in RELA set it
    zeros twice
    nort
    .reloc 1f+3, R_X86_64_PC32, changing-4
1:  add rax, [rip+10b]
    ret
#= got_next_entry: the addend 4 means the next entry of the table, not a part of the symbol
    zeros got_next_entry
    nort
    mov rcx, [rip+10b@GOTPCREL+8]
    add rax, [rcx]
    ret
#= got_byte: the address's upper half, shifted by the addend
    zeros got_byte
    nort
    mov rcx, [rip+10b@GOTPCREL+4]
    sub rcx, 4
    add rax, [rcx]
    ret
#= got_front: the addend -12
    .pushsection .rodata.got_front,"a",@progbits
    .quad 0
    .globl got_front_word
got_front_word: .quad 0
    .popsection
    nort
    mov rcx, [rip+got_front_word@GOTPCREL-8]
    add rax, [rcx]
    ret
#= got_read: the entry's own bytes
    zeros got_read
    nort
    lea rcx, [rip+10b@GOTPCREL]
    add rax, [rcx]
    ret
#= got_and: and with an address that the loader chooses
    nort
    and rax, [rip+thing@GOTPCREL]
    ret
#= got_cmp: a comparison with an address
    nort
    cmp rdi, [rip+thing@GOTPCREL]
    jne 1f
    xor eax, eax
1:  ret
#= got_8b_inside raw: the byte in front is 8b, but of vpcompressd
    .section .text.got_8b_inside,"ax",@progbits
    .globl got_8b_inside
    .type got_8b_inside,@function
got_8b_inside:
    nort
    kxorw k1, k1, k1
    vpcompressd [rip+thing]{k1}, zmm0
    .reloc .-4, R_X86_64_GOTPCREL, thing-4
    ret
    .size got_8b_inside,.-got_8b_inside
#= got_preempted build=shared,-Bno-symbolic: a default symbol of a shared object is found by name; another's constant may stand there
    .pushsection .rodata.got_preempted,"a",@progbits
    .globl got_preempted_word
got_preempted_word: .quad 0
    .popsection
    nort
    mov rcx, [rip+got_preempted_word@GOTPCREL]
    add rax, [rcx]
    ret
#= weak_constant: a weak constant is another's where another defines it
    .pushsection .rodata.weak_constant,"a",@progbits
    .weak weak_word
weak_word: .quad 0
    .popsection
    nort
    add rax, [rip+weak_word]
    ret
#= weak_by_table: the same through the table of addresses
    .pushsection .rodata.weak_by_table,"a",@progbits
    .weak weak_word_by_table
weak_word_by_table: .quad 0
    .popsection
    nort
    mov rcx, [rip+weak_word_by_table@GOTPCREL]
    add rax, [rcx]
    ret
#= unique_constant: a unique symbol is the process's first
    .pushsection .rodata.unique_constant,"a",@progbits
    .globl unique_word
    .type unique_word,@gnu_unique_object
unique_word: .quad 0
    .popsection
    nort
    add rax, [rip+unique_word]
    ret
#= common_symbol: a common symbol is zero until somebody defines it
    .comm common_word,8,8
    nort
    add rax, [rip+common_word]
    ret
#= absolute_symbol: an absolute address
    .globl absolute_word
    .set absolute_word, 0x1000
    nort
    add rax, [rip+absolute_word]
    ret
#= undefined_symbol: what another file has
    nort
    add rax, [rip+another_files_word]
    ret
#= undefined_weak: null where nobody defines it
    .weak nobodys_word
    nort
    lea rcx, [rip+nobodys_word]
    add rax, rcx
    ret
#= ifunc_constant: the address of an indirect function is that of a stub
    .pushsection .rodata.ifunc_constant,"a",@progbits
    .globl ifunc_word
    .type ifunc_word,@gnu_indirect_function
ifunc_word: .quad 0
    .popsection
    nort
    add rax, [rip+ifunc_word]
    ret
#= tls_constant: a thread's own word, by a distance as if it were everybody's
    nort
    add rax, [rip+threads_own]
    ret
#= tls_fs: a thread's own word
    nort
    add rax, fs:threads_own@tpoff
    ret
#= tls_table: a distance in the thread's block, by the table
    nort
    mov rcx, [rip+threads_own@gottpoff]
    add rax, rcx
    ret
#= tls_general: the call that finds a thread's word
    nort
    lea rdi, [rip+threads_own@tlsgd]
    add rax, rdi
    ret
#= writable_constant: a word that anybody may change
    nort
    add rax, [rip+changing]
    ret
#= writable_hidden patch=section:.data.writable_hidden:sh_flags:2: data whose flags were changed: right as it is, wrong where it came from
    .pushsection .data.writable_hidden,"aw",@progbits
10: .quad 0
    .reloc 10b, R_X86_64_64, thing
    .popsection
    nort
    add rax, [rip+10b]
    ret
#= dynamic_rodata build=shared,-z,notext: the loader adds where it has put the library; in the file the number is small
    .pushsection .rodata.dynamic_rodata,"a",@progbits
    .balign 8
10: .quad dynamic_rodata
    .popsection
    nort
    mov rcx, [rip+10b]
    shr rcx, 20
    add rax, rcx
    ret
#= dynamic_rodata_undefined build=shared,-z,notext: the loader finds a symbol by its name
    .pushsection .rodata.dynamic_rodata_undefined,"a",@progbits
    .balign 8
10: .quad symbol_of_another
    .popsection
    nort
    add rax, [rip+10b]
    ret
#= dynamic_rodata_32 build=shared,-z,notext,-z,dynamic-undefined-weak: a weak symbol that a loader may find
    .weak symbol_that_may_be
    .pushsection .rodata.dynamic_rodata_32,"a",@progbits
    .balign 8
10: .quad symbol_that_may_be
    .popsection
    nort
    add rax, [rip+10b]
    ret
#= dynamic_text build=shared,-z,notext: the loader writes into the code
    nort
    movabs rcx, offset symbol_of_another
    add rax, rcx
    ret
#= dynamic_packed build=pie,-z,notext,-z,pack-relative-relocs: relative relocations in their packed form
    .pushsection .data.rel.ro.dynamic_packed,"aw",@progbits
    .balign 8
10: .quad dynamic_packed
    .popsection
    nort
    add rax, [rip+10b]
    ret
#= relocatable_again build=relocatable: joined objects keep their relocations
    zeros relocatable_again
    .pushsection .rodata.relocatable_again_b,"a",@progbits
11: .long 10b - .
    .popsection
    nort
    movsxd rcx, dword ptr [rip+11b]
    add rax, rcx
    ret
#= dynamic_pie build=pie,-z,notext: the same in a program
    .pushsection .rodata.dynamic_pie,"a",@progbits
    .balign 8
10: .quad dynamic_pie
    .popsection
    nort
    mov rcx, [rip+10b]
    shr rcx, 20
    add rax, rcx
    ret
#= dynamic_hidden build=shared,-z,notext patch=section:.rela.dyn:sh_type:1: dynamic relocations whose section is called data, which loaders do not ask
    .pushsection .rodata.dynamic_hidden,"a",@progbits
    .balign 8
10: .quad dynamic_hidden
    .popsection
    nort
    mov rcx, [rip+10b]
    shr rcx, 20
    add rax, rcx
    ret
#= dynamic_headless build=shared,-z,notext patch=section:.rela.dyn:sh_size:0: dynamic relocations whose section has no size, which loaders do not ask
    .pushsection .rodata.dynamic_headless,"a",@progbits
    .balign 8
10: .quad dynamic_headless
    .popsection
    nort
    mov rcx, [rip+10b]
    shr rcx, 20
    add rax, rcx
    ret
#= dynamic_text_relative build=shared,-z,notext: the loader adds its own address in the code
    nort
    movabs rcx, offset dynamic_text_relative
    shr rcx, 20
    add rax, rcx
    ret
