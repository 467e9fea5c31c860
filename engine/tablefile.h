// SPDX-License-Identifier: GPL-3.0-or-later
// What a file of Syzygy tables must look like before a prober may map it: its name, its size, its magic bytes
// and the checksum at its end. Nothing here decodes a table.
#pragma once

#include "engine/util.h"

// The kinds of table files.
typedef enum TablefileKind { TABLEFILE_NONE, TABLEFILE_WDL, TABLEFILE_DTZ } TablefileKind;

// The kind of a file by its name (KQvKR.rtbw), TABLEFILE_NONE if the name is not that of a table of up to
// seven men.
TablefileKind tablefile_kind(const char *name);

// Whether the file at path is a whole table of a kind; refused with a reason that names the file. The
// checksum is compared in files of up to 16 MB (all of four men, nearly all of five); larger ones would take
// too long to read.
bool tablefile_check(const char *path, TablefileKind kind, Error *error);
