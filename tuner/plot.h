// SPDX-License-Identifier: GPL-3.0-or-later
// Plots as SVG inside HTML: axes, lines, bands, bars. Colours come from the page's style sheet, so that a
// page can be read in the dark.
#pragma once

#include <stdio.h>

// A plot that is being written.
typedef struct Plot {
    FILE *out;
    double x0, x1, y0, y1;
} Plot;

// Begins a plot with these ranges (an empty range is widened) and draws its axes.
Plot plot_begin(FILE *out, const char *title, const char *x_label, double x0, double x1, double y0,
                double y1);

// A line through points; what is not finite is left out. The class is "a", "b" or "thin".
void plot_line(const Plot *plot, const char *style, const double *x, const double *y, int count);

// The area between two lines.
void plot_band(const Plot *plot, const double *x, const double *low, const double *high, int count);

// A horizontal line with a label.
void plot_level(const Plot *plot, double y, const char *label);

// A bar from 0 to y, with a label below it and its value above.
void plot_bar(const Plot *plot, double from, double to, double y, const char *label, const char *value);

// Ends the plot.
void plot_end(const Plot *plot);

// Writes text so that HTML shows it as it is.
void html_text(FILE *out, const char *text);
