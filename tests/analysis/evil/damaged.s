# Files that are damaged, or none at all; a line of complaint is what they end in, whatever code they hold.
.macro nort
    mov rax, rdi
    shl rax, 8
.endm
.macro broken
    .pushsection .rodata,"a",@progbits
10: .quad 0
    .popsection
    xor eax, eax
    add rax, [rip+10b]
    ret
.endm
#= fifo build=fifo limit=2: a pipe without a writer
#= directory build=directory: a directory
#= empty build=empty: an empty file
#= text build=text: text
#= archive build=archive: an archive
#= endless build=endless: a file without an end
#= cut_magic patch=cut:4: four bytes
#= cut_ident patch=cut:16: the first sixteen bytes
#= cut_header patch=cut:40: half a header
#= cut_after_header patch=cut:64: a header alone
#= cut_sections patch=cut:1000: the table of sections is cut off
    broken
#= class_32 patch=header:e_class:1: said to be of 32 bits
    broken
#= class_3 patch=header:e_class:3: of a class that there is not
    broken
#= big_endian patch=header:e_data:2: said to be big-endian
    broken
#= data_3 patch=header:e_data:3: of an order that there is not
    broken
#= machine_386 patch=header:e_machine:3: said to be for a 386
    broken
#= machine_none patch=header:e_machine:0xffff: for a machine that there is not
    broken
#= version_99 patch=header:e_version:99: of a version that there is not
    broken
#= type_99 patch=header:e_type:99: of a type that there is not
    nort
    ret
#= shoff_far patch=header:e_shoff:0x7fffffffffffffff: sections far outside
    broken
#= shoff_negative patch=header:e_shoff:0xffffffffffffffff: sections at the last byte of all
    broken
#= shoff_inside patch=header:e_shoff:65: sections at an odd place
    broken
#= shoff_zero patch=header:e_shoff:0: no sections
    broken
#= shnum_zero patch=header:e_shnum:0: the number of sections stands in the first
    broken
#= shnum_many patch=header:e_shnum:0xfeff: more sections than the file has
    broken
#= shentsize_1 patch=header:e_shentsize:1: headers of one byte
    broken
#= shentsize_0 patch=header:e_shentsize:0: headers of no byte
    broken
#= shentsize_big patch=header:e_shentsize:0xffff: headers of 65,535 bytes
    broken
#= shstrndx_far patch=header:e_shstrndx:0xfe00: names in a section that there is not
    broken
#= shstrndx_0 patch=header:e_shstrndx:0: no names of sections
    broken
#= shstrndx_code patch=header:e_shstrndx:1: names in the code
    broken
#= names_far patch=section:.text.names_far:sh_name:0x7fffffff: a section's name far outside
    broken
#= text_huge patch=section:.text.text_huge:sh_size:0x7fffffffffffffff: a section of 8 EiB
    nort
    ret
#= text_gigabytes patch=section:.text.text_gigabytes:sh_size:0x100000000: a section of 4 GiB in a small file
    nort
    ret
#= text_far patch=section:.text.text_far:sh_offset:0x7fffffffffffffff: a section that begins outside
    nort
    ret
#= text_type patch=section:.text.text_type:sh_type:0x7fffffff: a section of a type that there is not
    nort
    ret
#= text_symbols patch=section:.text.text_symbols:sh_type:2: code that is said to be a table of symbols
    nort
    ret
#= text_strings patch=section:.text.text_strings:sh_type:3: code that is said to be strings
    nort
    ret
#= text_relocations patch=section:.text.text_relocations:sh_type:4;section:.text.text_relocations:sh_info:1: code that is said to be relocations
    nort
    ret
#= text_dynamic patch=section:.text.text_dynamic:sh_type:6: code that is said to be a dynamic table
    nort
    ret
#= text_note patch=section:.text.text_note:sh_type:7: code that is said to be a note
    nort
    ret
#= text_hash patch=section:.text.text_hash:sh_type:0x6ffffff6: code that is said to be a table of hashes
    nort
    ret
#= text_versions patch=section:.text.text_versions:sh_type:0x6fffffff: code that is said to be a table of versions
    nort
    ret
#= text_needs patch=section:.text.text_needs:sh_type:0x6ffffffe: code that is said to be a table of needs
    nort
    ret
#= text_attributes patch=section:.text.text_attributes:sh_type:0x70000003: code that is said to be attributes
    nort
    ret
#= text_compressed patch=section:.rodata:sh_flags:0x802: compressed constants that are not
    broken
#= symtab_huge patch=section:.symtab:sh_size:0x7fffffffffffffff: a table of symbols of 8 EiB
    broken
#= symtab_many patch=section:.symtab:sh_size:0x10000000: eleven million symbols
    broken
#= symtab_entsize_0 patch=section:.symtab:sh_entsize:0: symbols of no byte
    broken
#= symtab_entsize_1 patch=section:.symtab:sh_entsize:1: symbols of one byte
    broken
#= symtab_entsize_7 patch=section:.symtab:sh_entsize:7: symbols of seven bytes
    broken
#= symtab_link_far patch=section:.symtab:sh_link:0xfffffff: names of symbols in a section that there is not
    broken
#= symtab_link_code patch=section:.symtab:sh_link:1: names of symbols in the code
    broken
#= symtab_link_self patch=section:.symtab:sh_link:0: names of symbols in no section
    broken
#= symtab_far patch=section:.symtab:sh_offset:0xfffffffffffffff0: symbols outside
    broken
#= symtab_type patch=section:.symtab:sh_type:1: no table of symbols
    broken
#= strtab_type patch=section:.strtab:sh_type:1: names in what is no table of names
    broken
#= strtab_far patch=section:.strtab:sh_offset:0x7fffffffffffffff: names outside
    broken
#= strtab_nobits patch=section:.strtab:sh_type:8: names without content
    broken
#= rela_entsize_0 patch=section:.rela.text.rela_entsize_0:sh_entsize:0: relocations of no byte
    broken
#= rela_entsize_5 patch=section:.rela.text.rela_entsize_5:sh_entsize:5: relocations of five bytes
    broken
#= rela_huge patch=section:.rela.text.rela_huge:sh_size:0x7fffffffffffffff: relocations of 8 EiB
    broken
#= rela_many patch=section:.rela.text.rela_many:sh_size:0x10000000: eleven million relocations
    broken
#= rela_link patch=section:.rela.text.rela_link:sh_link:0xffffff: relocations by a table that there is not
    broken
#= rela_info patch=section:.rela.text.rela_info:sh_info:0xffffff: relocations of a section that there is not
    broken
#= rela_odd patch=section:.rela.text.rela_odd:sh_size:25: relocations and one byte
    broken
#= rela_far patch=section:.rela.text.rela_far:sh_offset:0xffffffffffffff00: relocations outside
    broken
#= rela_addend patch=relocation:.rela.text.rela_addend:0:r_addend:0x80000000: an addend that no distance holds
    broken
#= rela_addend_negative patch=relocation:.rela.text.rela_addend_negative:0:r_addend:0x8000000000000000: the least addend
    broken
#= rela_offset_end patch=relocation:.rela.text.rela_offset_end:0:r_offset:9: the last byte and three that there are not
    broken
#= rela_offset_0 patch=relocation:.rela.text.rela_offset_0:0:r_offset:0: the first bytes
    broken
#= rela_symbol patch=relocation:.rela.text.rela_symbol:0:r_sym:0xffffffff: the last symbol of all
    broken
#= rodata_huge patch=section:.rodata:sh_size:0x7fffffffffffffff: constants of 8 EiB
    broken
#= rodata_gigabytes patch=section:.rodata:sh_size:0x40000000: constants of a gibibyte in a small file
    broken
#= rodata_far patch=section:.rodata:sh_offset:0x7fffffffffffffff: constants outside
    broken
#= symbol_name_far patch=symbol:symbol_name_far:st_name:0x7fffffff: a name outside
    broken
#= symbol_type patch=symbol:symbol_type:st_info:0x1f: a symbol of a type that there is not
    broken
#= symbol_bind patch=symbol:symbol_bind:st_info:0xf2: a binding that there is not
    broken
#= symbol_value patch=symbol:symbol_value:st_value:0xffffffffffffffff: the last address of all
    broken
#= symbol_value_size patch=symbol:symbol_value_size:st_value:0x8000000000000000;symbol:symbol_value_size:st_size:0x8000000000000000: place and size that add up to 0
    broken
#= linked_shnum build=shared patch=header:e_shnum:3: only the first sections are told of
    broken
#= linked_phnum build=shared patch=header:e_phnum:0xffff: as many segments as can be said
    nort
    mov rcx, [rdi]
    ret
#= linked_phentsize build=shared patch=header:e_phentsize:0: segments of no byte
    nort
    mov rcx, [rdi]
    ret
#= linked_address build=shared patch=section:.text:sh_addr:0xfffffffffffffff0: the code at the end of all addresses
    broken
#= linked_rodata_address build=shared patch=section:.rodata:sh_addr:0x7ffffffffffff000: constants far away
    broken
#= linked_rodata_huge build=shared patch=section:.rodata:sh_size:0x7fffffffffffffff: constants of 8 EiB, linked
    broken
#= linked_dynamic build=shared patch=section:.dynamic:sh_size:0x7fffffffffffffff: a dynamic table of 8 EiB
    broken
#= linked_dynsym build=shared patch=section:.dynsym:sh_entsize:0: dynamic symbols of no byte
    broken
#= linked_two_far build=shared patch=section:.two_far:sh_addr:0x7fffffff0000: between two constants lie 128 TiB
    .pushsection .rodata
10: .quad 0
    .popsection
    .pushsection .two_far,"a",@progbits
11: .quad 0
    .popsection
    nort
    add rax, [rip+10b]
    add rax, [rip+11b]
    mov rcx, [rdi]
    ret
