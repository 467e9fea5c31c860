// SPDX-License-Identifier: GPL-3.0-or-later
// Texel's method. The evaluation is linear in most weights, so each position becomes a sparse list of
// coefficients, found by adding one to each weight in turn and looking what the sum does: the evaluation
// needs no code for tuning.
#include "tuner/texel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/psqt.h"
#include "engine/weights.h"

// Numbers that are fitted, each twice (middlegame, endgame): the linear weights, material, half boards of
// squares.
enum { HALF = 32, FIRST_MATERIAL = LINEAR_WEIGHTS, FIRST_SQUARE = FIRST_MATERIAL + PIECE_TYPES };
enum { NUMBERS = FIRST_SQUARE + PIECE_TYPES * HALF, BATCH = 16384, HELD_OUT = 16 };

// One number's share in the sum of one position.
typedef struct Coefficient {
    uint16_t number;
    int8_t value;
} Coefficient;

// One position: where its coefficients lie, what else its evaluation needs, what it should come to.
typedef struct Sample {
    size_t first;
    int count;
    float mg_share, eg_share, rest; // evaluation = mg x mg_share + eg x eg_share + rest
    float target;
    Position pos;
} Sample;

typedef struct Texel {
    Sample *samples;
    size_t sample_count, sample_room;
    Coefficient *coefficients;
    size_t coefficient_count, coefficient_room;
    double k; // the squashing: 1 / (1 + exp(-k x centipawns))
    Weights weights;
    double theta[NUMBERS][2], start[NUMBERS][2];
} Texel;

static double squash(double k, double score) { return 1 / (1 + exp(-k * score)); }

// Every 16th run of 64 positions, about a game each, is not fitted but only looked at.
static bool is_held_out(size_t index) { return index / 64 % HELD_OUT == 0; }

// Grows an array to hold at least one more; false without memory.
static bool grow(void **array, size_t size, size_t count, size_t *room) {
    if (count < *room) return true;
    size_t more = *room ? *room * 2 : 1 << 16;
    void *bigger = realloc(*array, more * size);
    if (!bigger) return false;
    *array = bigger, *room = more;
    return true;
}

static bool add_coefficient(Texel *texel, Sample *sample, int number, int value) {
    if (!value) return true;
    if (!grow((void **)&texel->coefficients, sizeof(Coefficient), texel->coefficient_count,
              &texel->coefficient_room))
        return false;
    texel->coefficients[texel->coefficient_count++] =
        (Coefficient){(uint16_t)number, (int8_t)int_clamp(value, -127, 127)};
    sample->count++;
    return true;
}

// Finds the coefficients of one position.
static bool measure(Texel *texel, Sample *sample) {
    const Position *pos = &sample->pos;
    Weights probe = texel->weights;
    int32_t *numbers = (int32_t *)&probe;
    const EvalParts base = eval_parts(pos, &probe);
    sample->first = texel->coefficient_count, sample->count = 0;
    sample->mg_share = (float)base.phase / 24;
    sample->eg_share = (float)(base.scale * (24 - base.phase)) / (24 * 64);
    sample->rest = (float)base.mop_up;
    for (int i = 0; i < LINEAR_WEIGHTS; i++) {
        numbers[i] += PACK(0, 1);
        const int change = packed_eg(eval_parts(pos, &probe).sum) - packed_eg(base.sum);
        numbers[i] -= PACK(0, 1);
        if (!add_coefficient(texel, sample, i, change)) return false;
    }
    int counts[NUMBERS - FIRST_MATERIAL] = {0};
    for (int square = 0; square < SQUARES; square++) {
        if (pos->board[square] == NO_PIECE) continue;
        const int type = piece_type(pos->board[square]), colour = piece_colour(pos->board[square]);
        const int file = square_file(square), rank = 7 - square_rank_for(colour, square);
        const int sign = colour == WHITE ? 1 : -1;
        counts[type] += sign;
        counts[PIECE_TYPES + type * HALF + 4 * rank + int_min(file, 7 - file)] += sign;
    }
    for (int i = FIRST_MATERIAL; i < NUMBERS; i++)
        if (!add_coefficient(texel, sample, i, counts[i - FIRST_MATERIAL])) return false;
    return true;
}

static bool measure_all(Texel *texel) {
    texel->coefficient_count = 0;
    for (size_t i = 0; i < texel->sample_count; i++)
        if (!measure(texel, &texel->samples[i])) return false;
    return true;
}

static double evaluate(const Texel *texel, const Sample *sample) {
    double mg = 0, eg = 0;
    for (int i = 0; i < sample->count; i++) {
        const Coefficient c = texel->coefficients[sample->first + (size_t)i];
        mg += c.value * texel->theta[c.number][0], eg += c.value * texel->theta[c.number][1];
    }
    return mg * sample->mg_share + eg * sample->eg_share + sample->rest;
}

// Mean squared error over the positions held out or over the others.
static double error_of(const Texel *texel, bool held_out) {
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < texel->sample_count; i++) {
        if (is_held_out(i) != held_out) continue;
        const double miss = squash(texel->k, evaluate(texel, &texel->samples[i])) - texel->samples[i].target;
        sum += miss * miss, count++;
    }
    return count ? sum / (double)count : 0;
}

// What Adam remembers of each number: the gradient of this batch, its mean and its mean square.
typedef struct Slope {
    double now[2], mean[2], square[2];
} Slope;

// Adds up the gradient of one batch and returns how many positions it had.
static size_t add_slopes(const Texel *texel, Slope *slopes, size_t begin) {
    size_t used = 0;
    for (int n = 0; n < NUMBERS; n++) slopes[n].now[0] = slopes[n].now[1] = 0;
    for (size_t i = begin; i < texel->sample_count && i < begin + BATCH; i++) {
        if (is_held_out(i)) continue;
        const Sample *sample = &texel->samples[i];
        const double p = squash(texel->k, evaluate(texel, sample));
        const double slope = (p - sample->target) * p * (1 - p);
        for (int j = 0; j < sample->count; j++) {
            const Coefficient c = texel->coefficients[sample->first + (size_t)j];
            slopes[c.number].now[0] += slope * c.value * sample->mg_share;
            slopes[c.number].now[1] += slope * c.value * sample->eg_share;
        }
        used++;
    }
    return used;
}

// Adam over the linear numbers, with a step that falls from 2 to 0.1 centipawns.
static bool fit(Texel *texel, const TexelPlan *plan, FILE *log) {
    Slope *slopes = calloc(NUMBERS, sizeof *slopes);
    if (!slopes) return false;
    double left_mean = 1, left_square = 1; // how much of the zero that both means began with is left in them
    for (int epoch = 0; epoch < plan->epochs; epoch++) {
        const double rate = 2 * pow(0.05, (double)epoch / plan->epochs);
        for (size_t begin = 0; begin < texel->sample_count; begin += BATCH) {
            const size_t used = add_slopes(texel, slopes, begin);
            if (!used) continue;
            left_mean *= 0.9, left_square *= 0.999;
            for (int i = 0; i < 2 * NUMBERS; i++) {
                const int n = i / 2, half = i % 2;
                Slope *s = &slopes[n];
                double *theta = &texel->theta[n][half];
                const double g = s->now[half] / (double)used + plan->decay * (*theta - texel->start[n][half]);
                s->mean[half] = 0.9 * s->mean[half] + 0.1 * g;
                s->square[half] = 0.999 * s->square[half] + 0.001 * g * g;
                const double spread = sqrt(s->square[half] / (1 - left_square));
                *theta -= rate * s->mean[half] / (1 - left_mean) / (spread + 1e-9);
            }
        }
        if (epoch % 10 == 9 || epoch == plan->epochs - 1)
            fprintf(log, "epoch %d: error %.6f, held out %.6f\n", epoch + 1, error_of(texel, false),
                    error_of(texel, true));
    }
    free(slopes);
    return true;
}

// Rounds the fitted numbers into the weights, and into the sums that the positions carry.
static void round_off(Texel *texel) {
    int32_t packed[NUMBERS];
    for (int i = 0; i < NUMBERS; i++)
        packed[i] = PACK((int)lround(texel->theta[i][0]), (int)lround(texel->theta[i][1]));
    memcpy(&texel->weights, packed, LINEAR_WEIGHTS * sizeof(int32_t));
    for (size_t i = 0; i < texel->sample_count; i++) {
        Sample *sample = &texel->samples[i];
        sample->pos.psq = 0;
        for (int j = 0; j < sample->count; j++) {
            const Coefficient c = texel->coefficients[sample->first + (size_t)j];
            if (c.number >= FIRST_MATERIAL) sample->pos.psq += c.value * packed[c.number];
        }
    }
}

// The error of the evaluation itself over some of the positions.
static double true_error(const Texel *texel) {
    const size_t stride = texel->sample_count / 200000 + 1;
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < texel->sample_count; i += stride, count++) {
        const Sample *sample = &texel->samples[i];
        const double miss =
            squash(texel->k, eval_parts(&sample->pos, &texel->weights).total) - sample->target;
        sum += miss * miss;
    }
    return sum / (double)(count ? count : 1);
}

// Moves each plain weight by one as long as that lowers the error.
static void coordinate_steps(Texel *texel, FILE *log) {
    int32_t *numbers = (int32_t *)&texel->weights;
    double best = true_error(texel);
    fprintf(log, "plain weights: error %.6f", best);
    for (int i = LINEAR_WEIGHTS; i < ALL_WEIGHTS; i++) {
        for (int direction = 1; direction >= -1; direction -= 2) {
            bool moved = false;
            for (int tries = 0; tries < 8; tries++) {
                numbers[i] += direction;
                const double error = true_error(texel);
                if (error >= best - 1e-8) {
                    numbers[i] -= direction;
                    break;
                }
                best = error, moved = true;
            }
            if (moved) break;
        }
    }
    fprintf(log, " -> %.6f\n", best);
}

static bool read_line(Texel *texel, const TexelPlan *plan, char *line, Error *error) {
    char *score = strchr(line, ';'), *result = score ? strchr(score + 1, ';') : NULL;
    if (!result) return error_set(error, "expected `fen;score;result`");
    *score++ = *result++ = '\0';
    result[strcspn(result, "\r\n")] = '\0';
    int64_t centipawns;
    double outcome;
    if (!grow((void **)&texel->samples, sizeof(Sample), texel->sample_count, &texel->sample_room))
        return error_set(error, "out of memory");
    Sample *sample = &texel->samples[texel->sample_count];
    if (!position_from_fen(&sample->pos, line, error)) return false;
    if (!parse_int(score, -32000, 32000, &centipawns, error) || !parse_real(result, 0, 1, &outcome, error))
        return false;
    sample->target =
        (float)(plan->result * outcome + (1 - plan->result) * squash(texel->k, (double)centipawns));
    texel->sample_count++;
    return true;
}

static bool read_data(Texel *texel, const TexelPlan *plan, Error *error) {
    for (int i = 0; i < plan->path_count; i++) {
        FILE *file = fopen(plan->paths[i], "r");
        if (!file) return error_set(error, "cannot open %s", plan->paths[i]);
        char line[256];
        bool fine = true;
        for (int number = 1; fine && fgets(line, sizeof line, file); number++)
            if (!(fine = read_line(texel, plan, line, error)))
                error_prefix(error, "%s:%d", plan->paths[i], number);
        fclose(file);
        if (!fine) return false;
    }
    return texel->sample_count || error_set(error, "no positions to fit");
}

static void write_packed(FILE *out, int32_t packed) {
    if (packed)
        fprintf(out, "S(%d, %d)", packed_mg(packed), packed_eg(packed));
    else
        fprintf(out, "0");
}

static void write_field(FILE *out, const char *name, const int32_t *values, size_t count, bool plain) {
    fprintf(out, "    .%s = %s", name, count > 1 ? "{" : "");
    for (size_t i = 0; i < count; i++) {
        if (i) fprintf(out, i % 8 ? ", " : ",\n        ");
        if (plain)
            fprintf(out, "%d", values[i]);
        else
            write_packed(out, values[i]);
    }
    fprintf(out, "%s,\n", count > 1 ? "}" : "");
}

static void write_all(const Texel *texel, FILE *out) {
    const Weights *w = &texel->weights;
    const char *const names[PIECE_TYPES] = {"PAWN", "KNIGHT", "BISHOP", "ROOK", "QUEEN", "KING"};
    fprintf(out, "const Weights DefaultWeights = {\n");
#define ONE(name, text) write_field(out, #name, &w->name, 1, false);
#define MANY(name, size, text) write_field(out, #name, w->name, size, false);
#define PLAIN(name, text) write_field(out, #name, &w->name, 1, true);
#define PLAIN_MANY(name, size, text) write_field(out, #name, w->name, size, true);
#include "engine/weights.def"
    fprintf(out, "};\n\nstatic const int32_t Material[PIECE_TYPES] = {\n    ");
    for (int type = PAWN; type <= KING; type++)
        fprintf(out, "S(%ld, %ld),%s", lround(texel->theta[FIRST_MATERIAL + type][0]),
                lround(texel->theta[FIRST_MATERIAL + type][1]), type == KING ? "\n};\n" : " ");
    fprintf(out, "\nstatic const int32_t PieceSquare[PIECE_TYPES][SQUARES] = {\n");
    for (int type = PAWN; type <= KING; type++) {
        fprintf(out, "    [%s] = {\n", names[type]);
        for (int i = 0; i < HALF; i++) {
            const double *number = texel->theta[FIRST_SQUARE + type * HALF + i];
            fprintf(out, "%sS(%4ld, %4ld)%s", i % 4 ? "" : "        ROW(", lround(number[0]),
                    lround(number[1]), i % 4 == 3 ? "),\n" : ", ");
        }
        fprintf(out, "    },\n");
    }
    fprintf(out, "};\n");
}

// Starts from the engine's own numbers.
static void start_numbers(Texel *texel) {
    texel->weights = DefaultWeights;
    const int32_t *numbers = (const int32_t *)&DefaultWeights;
    for (int i = 0; i < NUMBERS; i++) {
        const int square = i - FIRST_SQUARE, type = square / HALF, place = square % HALF;
        const int32_t packed = i < FIRST_MATERIAL ? numbers[i]
                               : i < FIRST_SQUARE ? Material[i - FIRST_MATERIAL]
                                                  : PieceSquare[type][place / 4 * 8 + place % 4];
        texel->theta[i][0] = texel->start[i][0] = packed_mg(packed);
        texel->theta[i][1] = texel->start[i][1] = packed_eg(packed);
    }
}

bool texel_run(const TexelPlan *plan, FILE *out, FILE *log, Error *error) {
    Texel *texel = calloc(1, sizeof *texel);
    if (!texel) return error_set(error, "out of memory");
    texel->k = plan->k;
    start_numbers(texel);
    bool fine = read_data(texel, plan, error);
    if (fine) fprintf(log, "%zu positions, %d numbers\n", texel->sample_count, 2 * NUMBERS);
    for (int round = 0; fine && round <= plan->rounds; round++) {
        fine = measure_all(texel) || error_set(error, "out of memory");
        if (fine && round == 0)
            fprintf(log, "start: error %.6f, held out %.6f\n", error_of(texel, false), error_of(texel, true));
        fine = fine && (fit(texel, plan, log) || error_set(error, "out of memory"));
        if (!fine) break;
        round_off(texel);
        if (round < plan->rounds) coordinate_steps(texel, log);
    }
    if (fine) write_all(texel, out);
    free(texel->samples), free(texel->coefficients), free(texel);
    return fine;
}

static bool parse_option(TexelPlan *plan, const char *name, const char *value, Error *error) {
    int64_t whole = 0;
    bool fine;
    if (!value) return error_set(error, "%s: a value is missing", name);
    if (strcmp(name, "--epochs") == 0) {
        fine = parse_int(value, 1, 10000, &whole, error);
        plan->epochs = (int)whole;
    } else if (strcmp(name, "--rounds") == 0) {
        fine = parse_int(value, 0, 100, &whole, error);
        plan->rounds = (int)whole;
    } else if (strcmp(name, "--result") == 0) {
        fine = parse_real(value, 0, 1, &plan->result, error);
    } else if (strcmp(name, "--k") == 0) {
        fine = parse_real(value, 1e-4, 0.1, &plan->k, error);
    } else if (strcmp(name, "--decay") == 0) {
        fine = parse_real(value, 0, 1, &plan->decay, error);
    } else {
        return error_set(error, "%s: unknown option", name);
    }
    return fine || error_prefix(error, "%s", name);
}

int texel_main(int argc, char **argv) {
    TexelPlan plan = TEXEL_DEFAULTS;
    Error error;
    int first = 1;
    if (argc == 1 || strcmp(argv[1], "--help") == 0) {
        printf("hone-tune texel [options] FILE...\n"
               "Fits the hand-written evaluation to lines `fen;score;result` (centipawns and 0, 0.5 or 1, "
               "from White)\n"
               "and writes the numbers of engine/weights.c and engine/psqt.h to stdout.\n"
               "  --epochs N   passes over the data (%d)\n"
               "  --rounds N   searches for the weights that are not linear (%d)\n"
               "  --result R   share of the result in the target, the rest is the score (%g)\n"
               "  --k K        a score s is worth 1 / (1 + exp(-K s)) (%g)\n"
               "  --decay D    pull towards the old numbers (%g)\n"
               "Example: hone-tune texel --epochs 20 games.txt > numbers.txt\n",
               plan.epochs, plan.rounds, plan.result, plan.k, plan.decay);
        return argc == 1 ? 2 : 0;
    }
    for (; first < argc && strncmp(argv[first], "--", 2) == 0; first += 2)
        if (!parse_option(&plan, argv[first], first + 1 < argc ? argv[first + 1] : NULL, &error))
            die(2, "hone-tune texel: %s", error.text);
    if (first >= argc) die(2, "hone-tune texel: no file of positions given");
    plan.paths = (const char *const *)argv + first, plan.path_count = argc - first;
    bitboard_init();
    if (!texel_run(&plan, stdout, stderr, &error)) die(1, "hone-tune texel: %s", error.text);
    return 0;
}
