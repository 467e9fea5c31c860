// SPDX-License-Identifier: GPL-3.0-or-later
#include "tuner/arguments.h"

#include <string.h>

bool argument_unknown(const char *key, const char *value, Error *error) {
    if (key) return error_set(error, "there is no such option (see --help)");
    return error_set(error, "'%.60s' is not an option (see --help)", value);
}

static bool *find_flag(const ArgumentFlag *flags, const char *key) {
    while (flags->name && strcmp(flags->name, key) != 0) flags++;
    return flags->set;
}

bool arguments_read(int argc, char **argv, const ArgumentFlag *flags, ArgumentSetter *set, void *context,
                    Error *error) {
    for (int i = 1; i < argc; i++) {
        char key[32];
        const char *text = argv[i], *equals = strchr(text, '=');
        size_t length = equals ? (size_t)(equals - text) : strlen(text);
        if (strncmp(text, "--", 2) != 0) {
            if (!set(context, NULL, text, error)) return false;
            continue;
        }
        if (length < 3 || length - 2 >= sizeof key) return argument_unknown(NULL, text, error);
        memcpy(key, text + 2, length - 2);
        key[length - 2] = '\0';
        bool *flag = find_flag(flags, key);
        if (flag && equals) return error_set(error, "--%s: takes no value", key);
        if (flag) {
            *flag = true;
            continue;
        }
        const char *value = equals                                          ? equals + 1
                            : i + 1 < argc && strncmp(argv[i + 1], "--", 2) ? argv[++i]
                                                                            : NULL;
        if (!value)
            return error_set(error, "--%s: a value is missing, or there is no such option (see --help)", key);
        if (!set(context, key, value, error)) return error_prefix(error, "--%s", key);
    }
    return true;
}
