// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/diag.h"

#include <string.h>

#include "engine/bench.h"
#include "engine/notation.h"
#include "engine/uci.h"

// The move that futility is tempted to skip: it takes a loose pawn, promotes, evades a check, waits.
static const DiagCase Suite[] = {
    {"hanging piece", "r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQ1RK1 b kq - 0 1", "f6e4"},
    {"promotion", "8/1P4k1/8/8/8/8/1p4K1/8 w - - 0 1", "b7b8q"},
    {"evasion", "r1bqk2r/pppp1Bpp/2n2n2/2b1p3/4P3/3P1N2/PPP2PPP/RNBQ1RK1 b kq - 0 1", "e8f7"},
    {"zugzwang", "8/8/p1p5/1p5p/1P5p/8/PPP2K1p/4R1rk w - - 0 1", "e1f1"},
};

enum { CASES = sizeof Suite / sizeof *Suite, DEFAULT_DEPTH = 12 };

int diag_count(void) { return CASES; }

DiagCase diag_case(int index) { return Suite[index]; }

// One depth of a position.
typedef struct Step {
    SearchResult result;
    SearchRun run;
    char move[UCI_SIZE];
} Step;

// A search to depth d is the beginning of a search to d + 1, so what depth d added is the difference between
// two searches from a fresh state; that way no counter is read while it is written.
static void take_step(Engine *engine, const Position *pos, int depth, Step *step) {
    SearchLimits limits = {.depth = depth};
    engine_new_game(engine);
    engine_set_position(engine, pos, NULL);
    step->result = engine_search(engine, &limits, NULL);
    step->run = engine_counters(engine);
    notation_to_uci(pos, step->result.best, step->move);
}

static bool is_over(const Step *step, int depth) {
    return step->result.best == MOVE_NONE || step->result.depth < depth;
}

// The columns that both tables begin with; mark stands behind the move.
static void print_step(FILE *out, int depth, const Step *step, const Step *before, const char *mark) {
    char move[UCI_SIZE + 2], score[32];
    snprintf(move, sizeof move, "%s%s", step->move, mark);
    uci_score(step->result.score, score);
    fprintf(out, "%5d %8d %-7s %-10s %12llu %11llu ", depth, step->result.seldepth, move, score,
            (unsigned long long)step->result.nodes,
            (unsigned long long)(step->result.nodes - before->result.nodes));
}

static const char Columns[] = "depth seldepth move    score             nodes      +nodes ";

void diag_position(FILE *out, Engine *engine, const Position *pos, int depth) {
    Step before = {0}, step;
    fprintf(out, "%s what acted (new at this depth)\n", Columns);
    for (int d = 1; d <= depth; d++, before = step) {
        take_step(engine, pos, d, &step);
        print_step(out, d, &step, &before, d > 1 && step.result.best != before.result.best ? "*" : "");
        for (int id = 0; id < PARAM_COUNT; id++)
            if (step.run.count[id] > before.run.count[id])
                fprintf(out, " %s %llu", ParamTable[id].name,
                        (unsigned long long)(step.run.count[id] - before.run.count[id]));
        fputc('\n', out);
        fflush(out);
        if (is_over(&step, d)) break;
    }
    fprintf(out, "* the best move changed\n");
}

DiagSummary diag_run(FILE *out, Engine *engine, const DiagCase *which, int depth) {
    DiagSummary summary = {0};
    Position pos;
    Step before = {0}, step;
    position_from_fen(&pos, which->fen, NULL);
    fprintf(out, "%s: %s, expected %s\n%s   +futility\n", which->name, which->fen, which->best, Columns);
    for (int d = 1; d <= depth; d++, before = step) {
        take_step(engine, &pos, d, &step);
        bool right = strcmp(step.move, which->best) == 0;
        bool changed = d > 1 && step.result.best != before.result.best;
        bool unexpected = changed && strcmp(before.move, which->best) == 0;
        if (!right) summary.settled = 0;
        else if (summary.settled == 0) summary.settled = d;
        summary.changes += changed;
        summary.unexpected += unexpected;
        summary.nodes = step.result.nodes;
        summary.futile = step.run.count[ID_FutilityPruning];
        print_step(out, d, &step, &before, unexpected ? "!" : changed ? "*" : "");
        fprintf(out, "%12llu\n", (unsigned long long)(summary.futile - before.run.count[ID_FutilityPruning]));
        fflush(out);
        if (is_over(&step, d)) break;
    }
    return summary;
}

void diag_suite(FILE *out, Engine *engine, int depth) {
    DiagSummary summaries[CASES], all = {0};
    for (int i = 0; i < CASES; i++) {
        summaries[i] = diag_run(out, engine, &Suite[i], depth);
        fputc('\n', out);
    }
    fprintf(out, "* the best move changed, ! away from the expected one\n\n");
    fprintf(out, "%-15s %-8s %10s %8s %10s %12s %12s\n", "position", "expected", "from depth", "changes",
            "unexpected", "nodes", "futility");
    for (int i = 0; i < CASES; i++) {
        const DiagSummary *s = &summaries[i];
        char settled[16] = "-";
        if (s->settled) snprintf(settled, sizeof settled, "%d", s->settled);
        fprintf(out, "%-15s %-8s %10s %8d %10d %12llu %12llu\n", Suite[i].name, Suite[i].best, settled,
                s->changes, s->unexpected, (unsigned long long)s->nodes, (unsigned long long)s->futile);
        all.settled += s->settled > 0;
        all.changes += s->changes;
        all.unexpected += s->unexpected;
        all.nodes += s->nodes;
        all.futile += s->futile;
    }
    fprintf(out, "%-15s %-8s %8d/%d %8d %10d %12llu %12llu\n", "all", "", all.settled, CASES, all.changes,
            all.unexpected, (unsigned long long)all.nodes, (unsigned long long)all.futile);
}

static const char Usage[] =
    "hone diag \"<fen>\" [depth] [Name=value...]\n"
    "hone diag --suite [depth] [Name=value...]\n"
    "\n"
    "Searches to depth 1, 2, 3 ... 12 (or another depth), each from a fresh state, and prints what each "
    "depth\n"
    "found: best move, score, nodes, and how often each technique acted; * marks a change of the best move.\n"
    "--suite does that for four positions that futility pruning gets wrong when it goes too far (a hanging\n"
    "piece, a promotion, an evasion, a zugzwang), counts its prunes, marks with ! where the best move left "
    "the\n"
    "expected one, and sums up. Name=value sets any option or parameter of the engine (see hone params "
    "--md).\n"
    "\n"
    "examples:\n"
    "  hone diag \"8/8/p1p5/1p5p/1P5p/8/PPP2K1p/4R1rk w - - 0 1\" 14 NullMove=false\n"
    "  hone diag --suite\n"
    "  hone diag --suite 12 FutilityMaxDepth=5 FutilityScale=60\n"
    "  hone diag --suite 12 FutilityLmrDepth=false FutilityKeepSee=true FutilityKeepHanging=true\n";

int diag_main(int argc, char **argv) {
    Error error;
    Position pos;
    int64_t depth = DEFAULT_DEPTH;
    bool help = argc == 1 && (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h"));
    if (argc == 0 || help) {
        fputs(Usage, help ? stdout : stderr);
        return help ? 0 : 2;
    }
    bool suite = strcmp(argv[0], "--suite") == 0;
    Engine *engine = engine_create(BENCH_HASH);
    if (!engine) die(1, "hone diag: not enough memory");
    if (!suite && !position_from_fen(&pos, argv[0], &error)) die(2, "hone diag: %s", error.text);
    for (int i = 1; i < argc; i++) {
        char *equals = strchr(argv[i], '=');
        if (equals) {
            *equals = '\0';
            bool set = engine_set_option(engine, argv[i], equals + 1, &error);
            if (!set || error.text[0]) die(2, "hone diag: %s", error.text); // a remark is a fault here
        } else if (!parse_int(argv[i], 1, BENCH_MAX_DEPTH, &depth, &error)) {
            die(2, "hone diag: depth: %s", error.text);
        }
    }
    if (suite) diag_suite(stdout, engine, (int)depth);
    else diag_position(stdout, engine, &pos, (int)depth);
    engine_destroy(engine);
    return 0;
}
