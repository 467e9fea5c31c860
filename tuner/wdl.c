// SPDX-License-Identifier: GPL-3.0-or-later
#include "tuner/wdl.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multimin.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_MATERIAL = 16, LEAST_POSITIONS = 1000, ROUNDS = 500 };
#define LEAST_B 10.

int wdl_material(const Position *pos) {
    return bb_count(pos->by_type[PAWN]) + 3 * bb_count(pos->by_type[KNIGHT] | pos->by_type[BISHOP]) +
           5 * bb_count(pos->by_type[ROOK]) + 9 * bb_count(pos->by_type[QUEEN]);
}

static double place_of(int material) {
    return int_clamp(material, LEAST_MATERIAL, WDL_MATERIALS - 1) / 40. - 1;
}

static double cubic(const double *numbers, double x) {
    return ((numbers[3] * x + numbers[2]) * x + numbers[1]) * x + numbers[0];
}

void wdl_at(const WdlModel *model, int material, double *a, double *b) {
    *a = cubic(model->a, place_of(material));
    *b = fmax(cubic(model->b, place_of(material)), LEAST_B);
}

void wdl_add(WdlCounts *counts, const DataGame *game) {
    Position board[2];
    board[0] = game->start;
    for (int ply = 0; ply < game->ply_count; ply++) {
        const Position *pos = &board[ply & 1];
        const int sign = pos->stm == WHITE ? 1 : -1, score = sign * game->scores[ply];
        const int material = int_min(wdl_material(pos), WDL_MATERIALS - 1);
        if (ply >= game->random_plies && abs(score) <= WDL_MOST) {
            const int bin = (score + WDL_MOST + WDL_STEP / 2) / WDL_STEP;
            counts->results[material][bin][1 + sign * (game->result - 1)]++;
            counts->positions++;
        }
        position_make(&board[~ply & 1], pos, game->moves[ply]);
    }
}

// --- the fit

static double logistic(double x) { return 1 / (1 + exp(-x)); }

// Minus the log likelihood of one cell, and its slopes by a and b.
static double cell_loss(const uint32_t results[3], double score, double a, double b, double slope[2]) {
    const double up = (score - a) / b, down = (-score - a) / b;
    const double win = logistic(up), loss = logistic(down);
    const double chance[3] = {fmax(loss, 1e-9), fmax(1 - win - loss, 1e-9), fmax(win, 1e-9)};
    const double steep_win = win * (1 - win), steep_loss = loss * (1 - loss);
    // Slopes of the three chances by a and b.
    const double by_a[3] = {-steep_loss / b, (steep_win + steep_loss) / b, -steep_win / b};
    const double by_b[3] = {-steep_loss * down / b, (steep_win * up + steep_loss * down) / b,
                            -steep_win * up / b};
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        sum -= results[i] * log(chance[i]);
        slope[0] -= results[i] * by_a[i] / chance[i];
        slope[1] -= results[i] * by_b[i] / chance[i];
    }
    return sum;
}

// The whole loss and its gradient, in units of a hundred centipawns so that all eight numbers are alike.
static void evaluate(const gsl_vector *numbers, void *context, double *loss, gsl_vector *gradient) {
    const WdlCounts *counts = context;
    double sum = 0, slopes[WDL_NUMBERS] = {0};
    WdlModel model;
    for (int i = 0; i < WDL_POWERS; i++) {
        model.a[i] = 100 * gsl_vector_get(numbers, (size_t)i);
        model.b[i] = 100 * gsl_vector_get(numbers, (size_t)(WDL_POWERS + i));
    }
    for (int material = 0; material < WDL_MATERIALS; material++) {
        const double x = place_of(material);
        double a, b, slope[2] = {0};
        wdl_at(&model, material, &a, &b);
        for (int bin = 0; bin < WDL_BINS; bin++) {
            const uint32_t *results = counts->results[material][bin];
            if (results[0] + results[1] + results[2])
                sum += cell_loss(results, bin * WDL_STEP - WDL_MOST, a, b, slope);
        }
        if (b <= LEAST_B) slope[1] = 0;
        for (int i = 0; i < WDL_POWERS; i++) {
            slopes[i] += slope[0] * pow(x, i);
            slopes[WDL_POWERS + i] += slope[1] * pow(x, i);
        }
    }
    if (loss) *loss = sum / (double)counts->positions;
    for (int i = 0; gradient && i < WDL_NUMBERS; i++)
        gsl_vector_set(gradient, (size_t)i, 100 * slopes[i] / (double)counts->positions);
}

static double loss_of(const gsl_vector *numbers, void *context) {
    double loss;
    evaluate(numbers, context, &loss, NULL);
    return loss;
}

static void gradient_of(const gsl_vector *numbers, void *context, gsl_vector *gradient) {
    evaluate(numbers, context, NULL, gradient);
}

bool wdl_fit(const WdlCounts *counts, WdlModel *model, Error *error) {
    if (counts->positions < LEAST_POSITIONS)
        return error_set(error, "%llu positions with scores are too few for a fit",
                         (unsigned long long)counts->positions);
    gsl_multimin_function_fdf function = {.f = loss_of,
                                          .df = gradient_of,
                                          .fdf = evaluate,
                                          .n = WDL_NUMBERS,
                                          .params = (void *)(uintptr_t)counts};
    gsl_multimin_fdfminimizer *search =
        gsl_multimin_fdfminimizer_alloc(gsl_multimin_fdfminimizer_vector_bfgs2, WDL_NUMBERS);
    gsl_vector *start = gsl_vector_calloc(WDL_NUMBERS);
    gsl_error_handler_t *old = gsl_set_error_handler_off();
    gsl_vector_set(start, 0, 2), gsl_vector_set(start, WDL_POWERS, 1); // even chances at 200, spread 100
    gsl_multimin_fdfminimizer_set(search, &function, start, .1, .1);
    for (int round = 0; round < ROUNDS; round++) {
        if (gsl_multimin_fdfminimizer_iterate(search) != GSL_SUCCESS) break;
        if (gsl_multimin_test_gradient(search->gradient, 1e-6) == GSL_SUCCESS) break;
    }
    const double rest = gsl_multimin_test_gradient(search->gradient, 1e-3) == GSL_SUCCESS ? 0 : 1;
    for (int i = 0; i < WDL_POWERS; i++) {
        model->a[i] = 100 * gsl_vector_get(search->x, (size_t)i);
        model->b[i] = 100 * gsl_vector_get(search->x, (size_t)(WDL_POWERS + i));
    }
    model->loss = search->f;
    gsl_vector_free(start), gsl_multimin_fdfminimizer_free(search), gsl_set_error_handler(old);
    return rest == 0 || error_set(error, "the fit did not settle: are the scores and results in order?");
}

// --- the command

static void print_model(const WdlCounts *counts, const WdlModel *model) {
    static const int Materials[] = {16, 24, 32, 40, 48, 58, 68, 78}, Scores[] = {0, 50, 100, 200, 400};
    printf("%llu positions, loss %.5f\n\n// a and b of 1 / (1 + exp((a - s) / b)), powers of material / 40 - "
           "1\n",
           (unsigned long long)counts->positions, model->loss);
    for (int i = 0; i < 2; i++) {
        const double *numbers = i ? model->b : model->a;
        printf("static const double Wdl%c[4] = {%.3f, %.3f, %.3f, %.3f};\n", i ? 'B' : 'A', numbers[0],
               numbers[1], numbers[2], numbers[3]);
    }
    printf("\nmaterial  positions       a       b   win/draw/loss in percent at a score of\n%34s", "");
    for (size_t s = 0; s < sizeof Scores / sizeof *Scores; s++) printf("%12d", Scores[s]);
    for (size_t m = 0; m < sizeof Materials / sizeof *Materials; m++) {
        const int from = m ? Materials[m - 1] + 1 : 0;
        uint64_t seen = 0;
        double a, b;
        wdl_at(model, Materials[m], &a, &b);
        for (int material = from; material <= Materials[m]; material++)
            for (int bin = 0; bin < WDL_BINS; bin++)
                for (int i = 0; i < 3; i++) seen += counts->results[material][bin][i];
        printf("\n%8d %10llu %7.0f %7.0f", Materials[m], (unsigned long long)seen, a, b);
        for (size_t s = 0; s < sizeof Scores / sizeof *Scores; s++) {
            const double win = logistic((Scores[s] - a) / b), loss = logistic((-Scores[s] - a) / b);
            printf("    %2.0f/%2.0f/%2.0f", 100 * win, 100 * (1 - win - loss), 100 * loss);
        }
    }
    printf("\n\nA score of a wins half of the games. Stockfish calls that one pawn at material 58: here it "
           "is %.0f.\n",
           cubic(model->a, place_of(58)));
}

static bool read_games(const char *path, WdlCounts *counts, DataGame *game, Error *error) {
    Error broken = {""};
    GameReader *reader = gamereader_open(path, error);
    if (!reader) return false;
    while (gamereader_next(reader, game, &broken)) wdl_add(counts, game);
    gamereader_close(reader);
    if (broken.text[0]) fprintf(stderr, "hone-tune wdl: %s (what comes before it is used)\n", broken.text);
    return true;
}

int wdl_main(int argc, char **argv) {
    Error error = {""};
    WdlModel model;
    if (argc >= 2 && strcmp(argv[1], "--help") == 0) {
        puts("hone-tune wdl FILE...\n\nFits what a score means in wins, draws and losses, by material, to "
             "files of games\n"
             "(hone-tune datagen), and prints the numbers for the engine's UCI_ShowWDL and a table.\n\n"
             "Example: hone-tune wdl games/*.games");
        return 0;
    }
    if (argc < 2 || argv[1][0] == '-') die(2, "hone-tune wdl: files of games were expected (see --help)");
    WdlCounts *counts = calloc(1, sizeof *counts);
    DataGame *game = malloc(sizeof *game);
    if (!counts || !game) die(2, "hone-tune wdl: not enough memory");
    bitboard_init();
    for (int i = 1; i < argc; i++)
        if (!read_games(argv[i], counts, game, &error)) die(2, "hone-tune wdl: %s", error.text);
    if (!wdl_fit(counts, &model, &error)) die(1, "hone-tune wdl: %s", error.text);
    print_model(counts, &model);
    free(counts), free(game);
    return 0;
}
