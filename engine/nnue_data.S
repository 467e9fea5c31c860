// SPDX-License-Identifier: GPL-3.0-or-later
// The net that is built in: the bytes of EVALFILE, or none.
        .section .rodata
        .balign 64
        .globl NnueData
        .globl NnueDataEnd
NnueData:
#ifdef EVALFILE
        .incbin EVALFILE
#endif
NnueDataEnd:
        .byte 0
        .section .note.GNU-stack, "", %progbits
