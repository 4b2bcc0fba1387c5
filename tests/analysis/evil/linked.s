# Linked files: headers of sections that disagree with what is loaded.
.macro nort
    mov rax, rdi
    shl rax, 8
.endm
.macro zeros name
    .pushsection .rodata.\name,"a",@progbits
    .balign 16
10: .quad 0, 0, 0, 0
    .popsection
.endm
# A constant in a section of its own, so that its header can be changed.
.macro apart name, value
    .pushsection .\name,"a",@progbits
    .balign 16
10: .quad \value
    .popsection
    nort
    add rax, [rip+10b]
    ret
.endm
# What the tests change lies elsewhere in the file: zeros to look at, and code that is wrong.
    .section .zeros,"a",@progbits
    .fill 64, 8, 0
    .section .right_code,"ax",@progbits
    .balign 64
    nort
    ret
    .section .data
    .quad 1, 2, 3
#= offset_moved build=shared patch=section:.offset_moved:sh_offset:@.zeros: a section's header points to zeros, its segment to a one
    apart offset_moved, 1
#= size_shortened build=shared patch=section:.size_shortened:sh_size:0: the section is empty by its header
    apart size_shortened, 1
#= nobits_constant build=shared patch=section:.nobits_constant:sh_type:8: without content by its header, a one by its segment
    apart nobits_constant, 1
#= address_moved build=shared patch=section:.zeros:sh_addr:@.address_moved: another section, of zeros, is said to lie where the constant lies
    apart address_moved, 1
#= writable_unsaid build=shared patch=section:.writable_unsaid:sh_flags:2: data of a segment that can be written, read-only by its section
    .pushsection .writable_unsaid,"aw",@progbits
10: .quad 0
    .popsection
    nort
    add rax, [rip+10b]
    ret
#= code_moved build=shared patch=section:.code_moved_text:sh_offset:@.right_code raw: the function's section points to other code than is loaded
    .section .code_moved_text,"ax",@progbits
    .balign 64
    .globl code_moved
    .type code_moved,@function
code_moved:
    xor eax, eax
    nop
    nop
    nop
    nop
    nop
    ret
    .size code_moved,.-code_moved
#= segment_moved build=shared patch=segment:2:p_offset:+4096: the constants' segment is loaded from elsewhere in the file
    zeros segment_moved
    nort
    add rax, [rip+10b]
    ret
#= code_segment_moved build=shared patch=segment:1:p_offset:+4096: the code's segment is loaded from elsewhere: other bytes run
    nort
    ret
#= code_segment_address build=shared patch=segment:1:p_vaddr:+4096: the code's segment is loaded a page higher
    nort
    ret
#= code_not_executable build=shared patch=segment:1:p_flags:4: the code's segment cannot be executed
    nort
    ret
#= code_writable build=shared patch=segment:1:p_flags:7: the code's segment can be written
    nort
    mov byte ptr [rip+1f], 0xc3
1:  ret
#= code_not_loaded build=shared patch=segment:1:p_type:0: the code's segment is not loaded
    nort
    ret
#= code_cut build=shared patch=segment:1:p_filesz:1: behind the first byte of the code's segment are zeros
    nort
    ret
#= constants_zero_filled build=shared,-z,separate-code patch=segment:2:p_filesz:1: what is behind a segment's content is zeros
    .pushsection .rodata.constants_zero_filled,"a",@progbits
    .balign 16
    .quad 0
10: .quad 1
    .popsection
    nort
    add rax, [rip+10b]
    dec rax
    ret
#= no_segments build=shared patch=header:e_phnum:0: nothing is loaded at all
    nort
    ret
#= segments_outside build=shared patch=header:e_phoff:0x7fffffff: segments outside of the file
    nort
    ret
#= type_object build=shared patch=header:e_type:1: a library that is said to be an object: addresses are taken as offsets
    nort
    ret
#= type_core build=shared patch=header:e_type:4: a library that is said to be a memory's image
    nort
    ret
#= type_none build=shared patch=header:e_type:0: a file of no type
    nort
    ret
#= object_as_program patch=header:e_type:2: an object that is said to be linked: its relocations are not applied
    .pushsection .rodata.object_as_program,"a",@progbits
    .quad 0
10: .quad 0
    .popsection
    nort
    add rax, [rip+10b]
    ret
#= object_as_library_code patch=header:e_type:3: an object that is said to be a library
    nort
    .reloc .+2, R_X86_64_32S, 0x100
    add rax, 0
    ret
#= self_modifying build=shared,-N: code that writes itself, in a segment that allows it
    mov byte ptr [rip+1f+3], 9
    mov rax, rdi
1:  shl rax, 8
    ret
#= reads_itself build=shared,-N: code that reads bytes which it has written
    mov dword ptr [rip+1f], 1
    nort
    add rax, [rip+1f]
    ret
1:  .quad 0
#= data_in_front build=shared: constants in front of the code
    zeros data_in_front
    nort
    add rax, [rip+10b-0x1000]
    ret
#= elf_header build=shared: the file's own header is loaded: its bytes are read as constants
    nort
    lea rcx, [rip+elf_header]
    and rcx, -4096
    add rax, [rcx]
    ret
#= relro build=shared,-z,relro: what is read-only after it was relocated
    .pushsection .data.rel.ro.relro,"aw",@progbits
10: .quad relro
    .popsection
    nort
    mov rcx, [rip+10b]
    shr rcx, 32
    add rax, rcx
    ret
#= copied build=program: a fixed address in a program
    nort
    add rax, qword ptr [0x400000]
    ret
#= overlapping_sections build=shared patch=section:.overlapping_sections_zero:sh_addr:@.overlapping_sections: two sections at one address, of zeros and of a one
    .pushsection .overlapping_sections_zero,"a",@progbits
    .balign 16
    .quad 0
    .popsection
    apart overlapping_sections, 1
#= overlapping_segments build=shared patch=segment:2:p_vaddr:0x1000: of two segments at one page the later is what runs
    zeros overlapping_segments
    nort
    ret
