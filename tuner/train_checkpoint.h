// SPDX-License-Identifier: GPL-3.0-or-later
// A training run on disk: what it was told and how far it has come. The file is replaced as a whole, so a
// run that is killed at any time goes on from the last one.
#pragma once

#include "tuner/train.h"

// Writes the state with the settings it belongs to, lines of `name value`.
bool checkpoint_write(const char *path, const char *settings, const TrainState *state, Error *error);

// Reads a state of the same size back. False with *found unset if there is no file; otherwise false and a
// reason: broken, or made with other settings, of which the first is named.
bool checkpoint_read(const char *path, const char *settings, TrainState *state, bool *found, Error *error);
