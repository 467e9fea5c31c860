// SPDX-License-Identifier: GPL-3.0-or-later
#include "match/uci_option.h"

#include <stdio.h>
#include <string.h>

// Words that begin a part of the line; everything up to the next one belongs to it.
static bool is_keyword(const char *word, bool in_name) {
    if (in_name) return strcmp(word, "type") == 0;
    static const char *const keywords[] = {"type", "default", "min", "max", "var"};
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (strcmp(word, keywords[i]) == 0) return true;
    return false;
}

// Takes the words up to the next keyword, joined by single blanks; cut to size.
static void take_words(const char **cursor, bool in_name, char *buffer, size_t size) {
    size_t used = 0;
    char word[256];
    buffer[0] = '\0';
    for (const char *at = *cursor; text_word(&at, word, sizeof word) && !is_keyword(word, in_name);
         *cursor = at) {
        int more = snprintf(buffer + used, size - used, "%s%s", used ? " " : "", word);
        used = used + (size_t)more < size ? used + (size_t)more : size - 1;
    }
}

static bool kind_of(const char *text, OptionKind *kind) {
    static const char *const names[] = {[OPTION_CHECK] = "check",
                                        [OPTION_SPIN] = "spin",
                                        [OPTION_COMBO] = "combo",
                                        [OPTION_STRING] = "string",
                                        [OPTION_BUTTON] = "button"};
    for (int i = 0; i < 5; i++) {
        if (strcmp(text, names[i]) != 0) continue;
        *kind = (OptionKind)i;
        return true;
    }
    return false;
}

bool uci_option_parse(const char *line, UciOption *option) {
    char word[256], text[256];
    if (!text_word(&line, word, sizeof word) || strcmp(word, "option") != 0) return false;
    if (!text_word(&line, word, sizeof word) || strcmp(word, "name") != 0) return false;
    *option = (UciOption){.kind = OPTION_STRING};
    take_words(&line, true, option->name, sizeof option->name);
    bool has_min = false, has_max = false, has_kind = false;
    size_t used = 0;
    while (text_word(&line, word, sizeof word)) {
        take_words(&line, false, text, sizeof text);
        if (strcmp(word, "type") == 0) has_kind = kind_of(text, &option->kind);
        else if (strcmp(word, "min") == 0)
            has_min = parse_int(text, INT64_MIN, INT64_MAX, &option->min, NULL);
        else if (strcmp(word, "max") == 0)
            has_max = parse_int(text, INT64_MIN, INT64_MAX, &option->max, NULL);
        else if (strcmp(word, "default") == 0) parse_int(text, INT64_MIN, INT64_MAX, &option->value, NULL);
        else if (strcmp(word, "var") == 0 && used + strlen(text) + 2 < sizeof option->vars)
            used += (size_t)snprintf(option->vars + used, sizeof option->vars - used, "\n%s", text);
    }
    option->bounded = has_min && has_max;
    return has_kind && option->name[0];
}

// Whether a combo has this value, in any case of letters.
static bool has_value(const UciOption *option, const char *value) {
    char one[256];
    for (const char *at = option->vars; *at == '\n';) {
        size_t size = strcspn(++at, "\n");
        snprintf(one, sizeof one, "%.*s", (int)size, at);
        if (text_equal(one, value)) return true;
        at += size;
    }
    return false;
}

bool uci_option_check(const UciOption *option, const char *value, Error *error) {
    int64_t number;
    char vars[200];
    switch (option->kind) {
    case OPTION_CHECK:
        if (text_equal(value, "true") || text_equal(value, "false")) return true;
        return error_set(error, "option %s: '%.60s' is neither true nor false", option->name, value);
    case OPTION_SPIN:
        if (!parse_int(value, INT64_MIN, INT64_MAX, &number, NULL))
            return error_set(error, "option %s: '%.60s' is not a whole number", option->name, value);
        if (!option->bounded || (number >= option->min && number <= option->max)) return true;
        return error_set(error, "option %s: %s is outside %lld to %lld", option->name, value,
                         (long long)option->min, (long long)option->max);
    case OPTION_COMBO:
        if (has_value(option, value)) return true;
        text_copy(vars, sizeof vars, option->vars + (option->vars[0] == '\n'));
        for (char *at = vars; (at = strchr(at, '\n'));) *at = ' ';
        return error_set(error, "option %s: '%.60s' is none of: %s", option->name, value, vars);
    case OPTION_STRING:
    case OPTION_BUTTON: return true;
    }
    return true;
}
