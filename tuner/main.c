// SPDX-License-Identifier: GPL-3.0-or-later
// The program hone-tune: finds the subcommand and hands over. What a subcommand does lives in its own file.
#include <stdio.h>
#include <string.h>

#include "engine/util.h"
#include "tuner/ablate.h"
#include "tuner/campaign.h"
#include "tuner/data_command.h"
#include "tuner/datagen.h"
#include "tuner/report.h"
#include "tuner/simulate.h"
#include "tuner/sprt_command.h"
#include "tuner/spsa_command.h"
#include "tuner/texel.h"
#include "tuner/train_command.h"
#include "tuner/wdl_fit.h"

// One subcommand: its name, its handler and what it does in half a line. A handler gets its own name as
// argv[0] and returns the exit status: 0, 1 where the work failed, 2 where the command line was wrong.
typedef struct Command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} Command;

static const Command Commands[] = {
    {"spsa", spsa_main, "tunes parameters by games"},
    {"run", run_main, "plays a campaign: tune, test, report, unattended"},
    {"report", report_main, "an HTML page with plots from a journal or a run's folder"},
    {"sprt", sprt_main, "what a match result means, or what to expect of a test"},
    {"ablate", ablate_main, "what each technique is worth: nodes, time, Elo"},
    {"simulate", simulate_main, "tuners on simulated games: how much Elo each regains"},
    {"texel", texel_main, "fits the hand-written evaluation to positions with results"},
    {"train", train_main, "trains a net on games and writes it"},
    {"wdl", wdl_fit_main, "what a score means in wins, draws and losses, fitted to games"},
    {"datagen", datagen_main, "games against itself, for training a net"},
    {"data", data_main, "checks, counts, shows and merges files of such games"},
};

enum { COMMANDS = sizeof Commands / sizeof *Commands };

static void print_help(void) {
    puts("hone-tune COMMAND [options]   (hone-tune COMMAND --help says more)\n");
    for (int i = 0; i < COMMANDS; i++) printf("  %-10s %s\n", Commands[i].name, Commands[i].help);
}

int main(int argc, char **argv) {
    if (argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_help();
        return 0;
    }
    if (argc < 2) die(2, "hone-tune: a command is missing; hone-tune --help lists them");
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(argv[1], Commands[i].name) == 0) return Commands[i].run(argc - 1, argv + 1);
    die(2, "hone-tune: '%.40s' is not a command; hone-tune --help lists them", argv[1]);
}
