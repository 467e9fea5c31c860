// SPDX-License-Identifier: GPL-3.0-or-later
#include "tuner/wdl_fit.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multimin.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POWERS = 4, NUMBERS = 2 * POWERS, LEAST_POSITIONS = 1000, ROUNDS = 500 };
#define LEAST_B 10.

// The search runs over powers of material / 40 - 1, which lie around zero and so hardly depend on each other.
static double place_of(int material) { return int_clamp(material, WDL_LEAST, WDL_MOST) / 40. - 1; }

static double cubic(const double *numbers, double x) {
    return ((numbers[3] * x + numbers[2]) * x + numbers[1]) * x + numbers[0];
}

// The same cubic in powers of material / WDL_FULL.
static void expand(const double *numbers, double *expanded) {
    const double k = WDL_FULL / 40.;
    expanded[0] = numbers[0] - numbers[1] + numbers[2] - numbers[3];
    expanded[1] = k * (numbers[1] - 2 * numbers[2] + 3 * numbers[3]);
    expanded[2] = k * k * (numbers[2] - 3 * numbers[3]);
    expanded[3] = k * k * k * numbers[3];
}

void wdl_fit_add(WdlCounts *counts, const DataGame *game) {
    Position board[2];
    board[0] = game->start;
    for (int ply = 0; ply < game->ply_count; ply++) {
        const Position *pos = &board[ply & 1];
        const int sign = pos->stm == WHITE ? 1 : -1, score = sign * game->scores[ply];
        const int material = int_min(wdl_material(pos), WDL_MOST);
        if (ply >= game->random_plies && abs(score) <= WDL_FIT_MOST) {
            const int bin = (score + WDL_FIT_MOST + WDL_FIT_STEP / 2) / WDL_FIT_STEP;
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
    double sum = 0, slopes[NUMBERS] = {0};
    double a_numbers[POWERS], b_numbers[POWERS];
    for (int i = 0; i < POWERS; i++) {
        a_numbers[i] = 100 * gsl_vector_get(numbers, (size_t)i);
        b_numbers[i] = 100 * gsl_vector_get(numbers, (size_t)(POWERS + i));
    }
    for (int material = 0; material <= WDL_MOST; material++) {
        const double x = place_of(material);
        const double a = cubic(a_numbers, x), b = fmax(cubic(b_numbers, x), LEAST_B);
        double slope[2] = {0};
        for (int bin = 0; bin < WDL_FIT_BINS; bin++) {
            const uint32_t *results = counts->results[material][bin];
            if (results[0] + results[1] + results[2])
                sum += cell_loss(results, bin * WDL_FIT_STEP - WDL_FIT_MOST, a, b, slope);
        }
        if (b <= LEAST_B) slope[1] = 0;
        for (int i = 0; i < POWERS; i++) {
            slopes[i] += slope[0] * pow(x, i);
            slopes[POWERS + i] += slope[1] * pow(x, i);
        }
    }
    if (loss) *loss = sum / (double)counts->positions;
    for (int i = 0; gradient && i < NUMBERS; i++)
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

bool wdl_fit(const WdlCounts *counts, WdlModel *model, double *loss, Error *error) {
    if (counts->positions < LEAST_POSITIONS)
        return error_set(error, "%llu positions with scores are too few for a fit",
                         (unsigned long long)counts->positions);
    gsl_multimin_function_fdf function = {
        .f = loss_of, .df = gradient_of, .fdf = evaluate, .n = NUMBERS, .params = (void *)(uintptr_t)counts};
    gsl_multimin_fdfminimizer *search =
        gsl_multimin_fdfminimizer_alloc(gsl_multimin_fdfminimizer_vector_bfgs2, NUMBERS);
    gsl_vector *start = gsl_vector_calloc(NUMBERS);
    gsl_error_handler_t *old = gsl_set_error_handler_off();
    gsl_vector_set(start, 0, 2), gsl_vector_set(start, POWERS, 1); // even chances at 200, spread 100
    gsl_multimin_fdfminimizer_set(search, &function, start, .1, .1);
    for (int round = 0; round < ROUNDS; round++) {
        if (gsl_multimin_fdfminimizer_iterate(search) != GSL_SUCCESS) break;
        if (gsl_multimin_test_gradient(search->gradient, 1e-6) == GSL_SUCCESS) break;
    }
    bool ok = gsl_multimin_test_gradient(search->gradient, 1e-3) == GSL_SUCCESS;
    double numbers[NUMBERS];
    for (int i = 0; i < NUMBERS; i++) numbers[i] = 100 * gsl_vector_get(search->x, (size_t)i);
    for (int material = WDL_LEAST; material <= WDL_MOST; material++)
        ok = ok && cubic(numbers + POWERS, place_of(material)) > LEAST_B;
    expand(numbers, model->a), expand(numbers + POWERS, model->b);
    *loss = search->f;
    gsl_vector_free(start), gsl_multimin_fdfminimizer_free(search), gsl_set_error_handler(old);
    return ok || error_set(error, "the fit did not settle: are the scores and results in order?");
}

// --- the command

static void print_numbers(const char *name, const double *numbers) {
    printf("    .%s = {%.3f, %.3f, %.3f, %.3f},\n", name, numbers[0], numbers[1], numbers[2], numbers[3]);
}

static void print_model(const WdlCounts *counts, const WdlModel *model, double loss) {
    static const int Materials[] = {16, 24, 32, 40, 48, 58, 68, 78}, Scores[] = {0, 50, 100, 200, 400};
    printf("%llu positions, loss %.5f\n\nFor engine/wdl.c:\nstatic const WdlModel Model = {\n",
           (unsigned long long)counts->positions, loss);
    print_numbers("a", model->a), print_numbers("b", model->b);
    printf("};\n\nmaterial  positions       a       b   win/draw/loss in percent at a score of\n%34s", "");
    for (size_t s = 0; s < sizeof Scores / sizeof *Scores; s++) printf("%12d", Scores[s]);
    for (size_t m = 0; m < sizeof Materials / sizeof *Materials; m++) {
        const double x = (double)Materials[m] / WDL_FULL;
        uint64_t seen = 0;
        for (int material = m ? Materials[m - 1] + 1 : 0; material <= Materials[m]; material++)
            for (int bin = 0; bin < WDL_FIT_BINS; bin++)
                for (int i = 0; i < 3; i++) seen += counts->results[material][bin][i];
        printf("\n%8d %10llu %7.0f %7.0f", Materials[m], (unsigned long long)seen, cubic(model->a, x),
               cubic(model->b, x));
        for (size_t s = 0; s < sizeof Scores / sizeof *Scores; s++) {
            const double win = wdl_win(model, Scores[s], Materials[m]);
            const double lost = wdl_win(model, -Scores[s], Materials[m]);
            printf("    %2.0f/%2.0f/%2.0f", 100 * win, 100 * (1 - win - lost), 100 * lost);
        }
    }
    printf("\n\nA score of a wins half of the games: %.0f at material %d.\n", cubic(model->a, 1), WDL_FULL);
}

static bool read_games(const char *path, WdlCounts *counts, DataGame *game, Error *error) {
    Error broken = {""};
    GameReader *reader = gamereader_open(path, error);
    if (!reader) return false;
    while (gamereader_next(reader, game, &broken)) wdl_fit_add(counts, game);
    gamereader_close(reader);
    if (broken.text[0]) fprintf(stderr, "hone-tune wdl: %s (what comes before it is used)\n", broken.text);
    return true;
}

int wdl_fit_main(int argc, char **argv) {
    Error error = {""};
    WdlModel model = {0};
    double loss = 0;
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
    if (!wdl_fit(counts, &model, &loss, &error)) die(1, "hone-tune wdl: %s", error.text);
    print_model(counts, &model, loss);
    free(counts), free(game);
    return 0;
}
