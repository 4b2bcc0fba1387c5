# Names: versions, doubles, weak and indirect ones, sizes and places that are not true, groups, sections that lie.
.macro nort
    mov rax, rdi
    shl rax, 8
.endm
.macro function name, bind=globl
    .section .text.\name,"ax",@progbits
    .balign 16
    .\bind \name
    .type \name,@function
\name:
.endm
.macro done name
    ret
    .size \name,.-\name
.endm
#= versioned raw build=shared,--version-script,@versions.map: of two versions the default is wrong, the older one, lower down, right
    function versioned_old
    nort
    done versioned_old
    function versioned_new
    xor eax, eax
    done versioned_new
    .symver versioned_old,versioned@ONE
    .symver versioned_new,versioned@@TWO
#= versioned_stripped raw build=shared,--version-script,@versions.map,-s: the same without the table that linkers leave
    function versioned_stripped_old
    nort
    done versioned_stripped_old
    function versioned_stripped_new
    mov rax, rdi
    done versioned_stripped_new
    .symver versioned_stripped_old,versioned_stripped@ONE
    .symver versioned_stripped_new,versioned_stripped@@TWO
#= two_locals raw patch=symbol:two_locals_b:st_name:@two_locals: two local functions of one name, as of two files: which is meant?
    function two_locals, local
    nort
    done two_locals
    function two_locals_b, local
    xor eax, eax
    done two_locals_b
#= two_globals raw patch=symbol:two_globals_b:st_name:@two_globals: two global functions of one name: no linker takes that
    function two_globals
    nort
    done two_globals
    function two_globals_b
    xor eax, eax
    done two_globals_b
#= resolver raw: what an indirect function's symbol names is the resolver, not the function
    function resolver
    .type resolver,@gnu_indirect_function
    nort
    done resolver
#= resolver_linked raw build=shared: the same linked
    function resolver_linked
    .type resolver_linked,@gnu_indirect_function
    nort
    done resolver_linked
#= undefined raw: the function is another file's
    .globl undefined
    .section .text.undefined,"ax",@progbits
    call undefined
#= size_one_short patch=symbol:size_one_short:st_size:-1: ret is not of the function
    xor eax, eax
    ret
#= size_cut patch=symbol:size_cut:st_size:2: the size ends in the middle of an instruction
    xor eax, eax
    shl rax, 8
    ret
#= size_zero patch=symbol:size_zero:st_size:0: the file does not say where it ends, and it is wrong behind a ret
    nort
    test rdi, rdi
    jns 1f
    ret
1:  jne 2f
    ret
2:  inc rax
    ret
#= size_zero_table patch=symbol:size_zero_table:st_size:0: without a size, wrong behind an indirect jump
    mov ecx, edi
    and ecx, 1
    lea rdx, [rip+10f]
    movsxd rcx, dword ptr [rdx+4*rcx]
    add rcx, rdx
    jmp rcx
1:  nort
    ret
2:  xor eax, eax
    ret
    .pushsection .rodata.size_zero_table,"a",@progbits
    .balign 4
10: .long 1b-10b, 2b-10b
    .popsection
#= size_huge patch=symbol:size_huge:st_size:0x7fffffffffffffff: more than its section has
    xor eax, eax
    ret
#= size_huge_data patch=symbol:size_huge_data:st_size:0x1000: the size goes past the section, where nothing is promised; the code reads it as zeros
    nort
    add rax, [rip+1f+24]
1:  ret
#= value_outside patch=symbol:value_outside:st_value:0x1000: the symbol lies outside of its section
    xor eax, eax
    ret
#= value_end patch=symbol:value_end:st_value:3: the symbol lies at its section's last byte
    xor eax, eax
    nop
    ret
#= value_negative patch=symbol:value_negative:st_value:-1: a place in front of the section
    xor eax, eax
    ret
#= section_absolute patch=symbol:section_absolute:st_shndx:0xfff1: an absolute symbol
    xor eax, eax
    ret
#= section_common patch=symbol:section_common:st_shndx:0xfff2: a common symbol
    xor eax, eax
    ret
#= section_extended patch=symbol:section_extended:st_shndx:0xffff: a section whose number stands elsewhere, and there is no elsewhere
    xor eax, eax
    ret
#= section_none patch=symbol:section_none:st_shndx:0x7fff: a section that there is not
    xor eax, eax
    ret
#= shifted_by_one patch=symbol:shifted_by_one:st_value:+1: the symbol means the second byte: mov eax,edi
    nort
    ret
#= group_constant: constants in a group: the first file's are taken
    .pushsection .rodata.group_constant,"aG",@progbits,group_of_constants,comdat
    .weak group_of_constants
group_of_constants:
    .quad 0
    .popsection
    nort
    add rax, [rip+group_of_constants]
    ret
#= discarded: constants in a section that linkers leave out
    .pushsection .discarded,"e",@progbits
10: .quad 0
    .popsection
    nort
    add rax, [rip+10b]
    ret
#= not_loaded: constants in a section that is not loaded
    .pushsection .comment_of_mine,"",@progbits
10: .quad 0
    .popsection
    nort
    add rax, [rip+10b]
    ret
#= note: constants in a note, which linkers merge
    .pushsection .note.gnu.property,"a",@note
    .balign 8
10: .quad 0
    .popsection
    nort
    add rax, [rip+10b]
    ret
#= unwinding: constants in the table of unwinding, which linkers rewrite
    .pushsection .eh_frame,"a",@unwind
10: .long 0, 0
    .popsection
    nort
    add rax, [rip+10b]
    ret
#= constructors_as_constants: the table of constructors, which linkers join
    .pushsection .ctors,"a",@progbits
10: .quad 0
    .popsection
    nort
    add rax, [rip+10b]
    ret
#= code_writable raw: code that can be written is changed by whoever likes
    .section .wtext,"awx",@progbits
    .globl code_writable
    .type code_writable,@function
code_writable:
    nort
    ret
    .size code_writable,.-code_writable
#= constants_writable_code: constants in a section that is written and run
    .pushsection .wxdata,"awx",@progbits
10: .quad 0
    .popsection
    nort
    add rax, [rip+10b]
    ret
#= debug_only patch=section:.text.debug_only:sh_type:8: code without content
    nort
    ret
#= code_compressed patch=section:.text.code_compressed:sh_flags:+0x800: code whose section is said to be compressed
    nort
    ret
#= code_not_loaded patch=section:.text.code_not_loaded:sh_flags:4: code in a section that is run and not loaded
    nort
    ret
#= code_excluded patch=section:.text.code_excluded:sh_flags:+0x80000000: code in a section that linkers leave out
    nort
    ret
#= code_merged patch=section:.text.code_merged:sh_flags:+0x10;section:.text.code_merged:sh_entsize:1: code whose bytes are merged
    nort
    ret
#= code_tls patch=section:.text.code_tls:sh_flags:+0x400: code in a thread's own section
    nort
    ret
