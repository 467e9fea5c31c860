// SPDX-License-Identifier: GPL-3.0-or-later
#include "tuner/plot.h"

#include <math.h>

enum { WIDTH = 640, HEIGHT = 260, LEFT = 64, RIGHT = 24, TOP = 28, BOTTOM = 44, TICKS = 5 };

void html_text(FILE *out, const char *text) {
    for (; *text; text++) {
        switch (*text) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '"': fputs("&quot;", out); break;
        default: fputc(*text, out);
        }
    }
}

static double x_at(const Plot *plot, double x) {
    return LEFT + (x - plot->x0) / (plot->x1 - plot->x0) * (WIDTH - LEFT - RIGHT);
}

static double y_at(const Plot *plot, double y) {
    double share = (y - plot->y0) / (plot->y1 - plot->y0);
    return HEIGHT - BOTTOM - fmin(fmax(share, -.02), 1.02) * (HEIGHT - TOP - BOTTOM);
}

// A round step that gives about TICKS ticks.
static double tick_step(double range) {
    double power = pow(10, floor(log10(range / TICKS))), ratio = range / TICKS / power;
    return power * (ratio > 5 ? 10 : ratio > 2 ? 5 : ratio > 1 ? 2 : 1);
}

Plot plot_begin(FILE *out, const char *title, const char *x_label, double x0, double x1, double y0,
                double y1) {
    if (!(x1 > x0)) x1 = x0 + 1;
    if (!(y1 > y0)) y0 -= fmax(fabs(y0) * .1, 1), y1 = y0 + 2 * fmax(fabs(y0) * .1, 1);
    Plot plot = {.out = out, .x0 = x0, .x1 = x1, .y0 = y0, .y1 = y1};
    fprintf(out, "<figure><svg viewBox=\"0 0 %d %d\" role=\"img\"><title>", WIDTH, HEIGHT);
    html_text(out, title);
    fprintf(out, "</title><text class=\"head\" x=\"%d\" y=\"16\">", LEFT);
    html_text(out, title);
    fputs("</text>", out);
    double step = tick_step(y1 - y0);
    for (double y = ceil(y0 / step) * step; y <= y1 + 1e-9 * step; y += step)
        fprintf(out,
                "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text class=\"tick\" text-anchor=\"end\" x=\"%d\" "
                "y=\"%.1f\">%.6g</text>",
                LEFT, y_at(&plot, y), WIDTH - RIGHT, LEFT - 6, y_at(&plot, y) + 4,
                fabs(y) < 1e-9 * step ? 0 : y);
    if (!x_label) return plot;
    step = tick_step(x1 - x0);
    for (double x = ceil(x0 / step) * step; x <= x1; x += step)
        fprintf(out, "<text class=\"tick\" text-anchor=\"middle\" x=\"%.1f\" y=\"%d\">%.6g</text>",
                x_at(&plot, x), HEIGHT - BOTTOM + 18, x);
    fprintf(out, "<text class=\"tick\" text-anchor=\"end\" x=\"%d\" y=\"%d\">", WIDTH - RIGHT, HEIGHT - 4);
    html_text(out, x_label);
    fputs("</text>", out);
    return plot;
}

void plot_line(const Plot *plot, const char *style, const double *x, const double *y, int count) {
    char command = 'M';
    fprintf(plot->out, "<path class=\"line %s\" d=\"", style);
    for (int i = 0; i < count; i++) {
        if (!isfinite(x[i]) || !isfinite(y[i])) continue;
        fprintf(plot->out, "%c%.1f %.1f", command, x_at(plot, x[i]), y_at(plot, y[i]));
        command = 'L';
    }
    fputs("\"/>", plot->out);
}

void plot_band(const Plot *plot, const double *x, const double *low, const double *high, int count) {
    char command = 'M';
    fputs("<path class=\"band\" d=\"", plot->out);
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < count; k++) {
            int i = pass ? count - 1 - k : k;
            if (!isfinite(low[i]) || !isfinite(high[i])) continue;
            fprintf(plot->out, "%c%.1f %.1f", command, x_at(plot, x[i]), y_at(plot, pass ? low[i] : high[i]));
            command = 'L';
        }
    fputs("\"/>", plot->out);
}

void plot_level(const Plot *plot, double y, const char *label) {
    fprintf(plot->out,
            "<path class=\"level\" d=\"M%d %.1fH%d\"/><text class=\"tick\" text-anchor=\"end\" x=\"%d\" "
            "y=\"%.1f\">",
            LEFT, y_at(plot, y), WIDTH - RIGHT, WIDTH - RIGHT - 4, y_at(plot, y) - 4);
    html_text(plot->out, label);
    fputs("</text>", plot->out);
}

void plot_bar(const Plot *plot, double from, double to, double y, const char *label, const char *value) {
    double left = x_at(plot, from), right = x_at(plot, to), top = y_at(plot, y), bottom = y_at(plot, 0),
           middle = (left + right) / 2;
    fprintf(plot->out, "<rect class=\"bar\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>", left,
            top, right - left, fmax(bottom - top, 0));
    fprintf(plot->out, "<text class=\"tick\" text-anchor=\"middle\" x=\"%.1f\" y=\"%d\">", middle,
            HEIGHT - BOTTOM + 18);
    html_text(plot->out, label);
    fprintf(plot->out, "</text><text class=\"tick\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">", middle,
            top - 4);
    html_text(plot->out, value);
    fputs("</text>", plot->out);
}

void plot_end(const Plot *plot) { fputs("</svg></figure>\n", plot->out); }
