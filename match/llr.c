// SPDX-License-Identifier: GPL-3.0-or-later
// Both fits come down to one equation in one unknown: maximising sum p_i log q_i under sum q_i = 1 and sum
// q_i phi_i = 0 gives q_i = p_i / (1 + theta phi_i), theta being the root of sum p_i phi_i / (1 + theta
// phi_i). For a mean, phi_i = a_i - score. For a deviation phi depends on q through its mean and variance (it
// is the constraint linearised at q), so that the equation is solved again and again until q stays.
#include "match/llr.h"

#include <assert.h>
#include <math.h>

enum { MAX_ROOT_STEPS = 200, MAX_FIT_STEPS = 500 };

// A fit has settled when no share changes by more than the first of these, or when the changes, below the
// second, stop falling: what is left then is rounding.
static const double FitTolerance = 1e-14, FitNoise = 1e-10;

// The solution of the equation above, written so that no digits are lost where 1 + theta phi_i nearly
// vanishes, as it does for one-sided samples: with rho_i = phi_i / phi_e, e the class whose pole -1 / phi_e
// bounds theta on the side of the root, 1 + theta phi_i = 1 - rho_i (1 - u), where u = 1 at theta = 0 and u =
// 0 at the pole.
typedef struct Tilt {
    double rho[PENTA_CLASSES], u;
} Tilt;

static double tilt_weight(const Tilt *tilt, int i) { return 1 - tilt->rho[i] + tilt->rho[i] * tilt->u; }

static double tilt_log(const Tilt *tilt, int i) {
    return tilt->u < 0.5 ? log(tilt_weight(tilt, i)) : log1p(-tilt->rho[i] * (1 - tilt->u));
}

// Finds u for shares p: Newton from 1, kept inside a bracket that each step narrows. The equation is
// multiplied by u, which takes the pole away: it falls from p_e at u = 0 to below 0 at u = 1.
static bool tilt_solve(const Sample *p, const double *phi, Tilt *tilt, Error *error) {
    double low = phi[0], high = phi[0], sum = 0;
    for (int i = 0; i < p->classes; i++) {
        low = fmin(low, phi[i]);
        high = fmax(high, phi[i]);
        sum += p->count[i] * phi[i];
    }
    if (!(low < 0 && high > 0))
        return error_set(error, "log-likelihood ratio: the bounds are too far apart for the sample");
    for (int i = 0; i < p->classes; i++) tilt->rho[i] = phi[i] / (sum > 0 ? low : high);
    double left = 0, right = 1;
    tilt->u = 1;
    for (int step = 0; step < MAX_ROOT_STEPS; step++) {
        double value = 0, slope = 0;
        for (int i = 0; i < p->classes; i++) {
            double ratio = tilt->rho[i] / tilt_weight(tilt, i);
            value += p->count[i] * ratio * tilt->u;
            slope += p->count[i] * ratio * (1 - ratio * tilt->u);
        }
        if (fabs(value) <= 1e-15 * fabs(slope) * tilt->u) return true;
        if (value > 0) left = tilt->u;
        else right = tilt->u;
        double next = tilt->u - value / slope;
        if (!(next > left && next < right)) next = left + (right - left) / 2;
        if (next == left || next == right) return true; // no number in between any more
        tilt->u = next;
    }
    return error_set(error, "log-likelihood ratio: the equation was not solved in %d steps", MAX_ROOT_STEPS);
}

static Sample shares_of(const Sample *sample) {
    Sample p = *sample;
    double size = sample_size(sample);
    for (int i = 0; i < p.classes; i++) {
        assert(p.count[i] > 0);
        p.count[i] /= size;
    }
    return p;
}

bool fit_mean(const Sample *sample, double score, Fit *fit, Error *error) {
    Sample p = shares_of(sample);
    double phi[PENTA_CLASSES];
    Tilt tilt = {.u = 1};
    for (int i = 0; i < p.classes; i++) phi[i] = sample_value(&p, i) - score;
    if (!tilt_solve(&p, phi, &tilt, error)) return false;
    for (int i = 0; i < p.classes; i++) fit->log_ratio[i] = tilt_log(&tilt, i);
    return true;
}

bool fit_deviation(const Sample *sample, double t, Fit *fit, Error *error) {
    Sample p = shares_of(sample), q = {.classes = p.classes};
    // Start from nothing but wins and losses in the proportion that obeys the hypothesis.
    double wins = 0.5 + t / (2 * sqrt(1 + t * t));
    q.count[0] = 1 - wins;
    q.count[q.classes - 1] = wins;
    double last_change = INFINITY;
    for (int step = 0; step < MAX_FIT_STEPS; step++) {
        Moments m = sample_moments(&q);
        double sigma = sqrt(m.variance), phi[PENTA_CLASSES], change = 0;
        Tilt tilt = {.u = 1};
        for (int i = 0; i < p.classes; i++) {
            double a = sample_value(&p, i), z = (a - m.mean) / sigma;
            phi[i] = a - 0.5 - t * sigma * (1 + z * z) / 2;
        }
        if (!tilt_solve(&p, phi, &tilt, error)) return false;
        for (int i = 0; i < p.classes; i++) {
            double share = p.count[i] / tilt_weight(&tilt, i);
            fit->log_ratio[i] = tilt_log(&tilt, i);
            change = fmax(change, fabs(share - q.count[i]));
            q.count[i] = share;
        }
        if (change < FitTolerance || (change < FitNoise && change >= last_change)) return true;
        last_change = change;
    }
    return error_set(error, "log-likelihood ratio: the fit at t = %g did not settle", t);
}

double fit_llr(const Sample *sample, const Fit *fit0, const Fit *fit1) {
    double sum = 0;
    for (int i = 0; i < sample->classes; i++)
        sum += sample->count[i] * (fit0->log_ratio[i] - fit1->log_ratio[i]);
    return sum;
}
