// SPDX-License-Identifier: GPL-3.0-or-later
// A campaign's stage of type bench: gates that need no games.
#pragma once

#include "tuner/campaign.h"

// Checks what the stage asks for with the candidate's options: values that must grow, positions that must be
// solved, a node count that explicit defaults must not change. *passed and a text tell the outcome; false
// only if it could not be done.
bool campaign_bench(const CampaignStage *stage, const OptionSet *candidate, bool *passed, char *text,
                    size_t size, Error *error);
