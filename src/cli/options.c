/* options: see the header. */
#include "cli/options.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/suggest.h"

enum { NAMES_MAX = 64 };

const struct options_row options_global[] = {
    {"url", "URL", "the server (default: $IMPOUND_URL, else http://127.0.0.1:7070)", 0},
    {"json", NULL, "print the server's answer as JSON", 0},
    {"help", NULL, "say how the verb is used", 'h'},
    {0},
};

/* A parsed option of the command line. */
struct word {
    const struct options_row *row; /* NULL: unknown */
    const char *value;             /* the value after "=", or NULL */
};

static bool is_option(const char *text) {
    return text[0] == '-' && text[1] != '\0';
}

static bool is_named(const struct options_row *row, const char *text, size_t len) {
    if (text[1] != '-')
        return row->letter && len == 2 && text[1] == row->letter;
    return strlen(row->name) == len - 2 && memcmp(row->name, text + 2, len - 2) == 0;
}

static struct word take_apart(const struct options_row *rows, const char *text) {
    const char *equals = strchr(text, '=');
    size_t len = equals ? (size_t)(equals - text) : strlen(text);
    struct word word = {.value = equals ? equals + 1 : NULL};
    for (const struct options_row *row = rows; row && row->name; row++)
        if (is_named(row, text, len))
            word.row = row;
    return word;
}

static void add(struct options *out, struct word word, const char *value) {
    out->given[out->given_count++] = (struct options_given){word.row, value};
}

static void reserve(struct options *out, int argc) {
    size_t most = (size_t)argc + 1;
    *out = (struct options){.given = memory_array(most, sizeof *out->given),
                            .args = memory_array(most, sizeof *out->args)};
}

/* Reads argv[*i], and the next word if that is its value. */
static enum status take(struct word word, int argc, char **argv, int *i, struct options *out,
                        struct err *err) {
    const char *text = argv[*i];
    if (!word.row->value && word.value)
        return err_set(err, STATUS_USAGE, "--%s takes no value", word.row->name);
    if (!word.row->value || word.value) {
        add(out, word, word.value ? word.value : "");
        return STATUS_OK;
    }
    if (*i + 1 >= argc)
        return err_set(err, STATUS_USAGE, "%s needs a value: %s %s", text, text, word.row->value);
    add(out, word, argv[++*i]);
    return STATUS_OK;
}

static size_t gather_names(const struct options_row *rows, const char **names, size_t count) {
    for (const struct options_row *row = rows; row && row->name && count < NAMES_MAX; row++)
        names[count++] = row->name;
    return count;
}

static enum status unknown(const struct options_row *rows, const char *text, struct err *err) {
    const char *names[NAMES_MAX];
    size_t count = gather_names(options_global, names, gather_names(rows, names, 0));
    struct bytes name = bytes_of(text + strspn(text, "-"));
    name = bytes_cut(name, 0, bytes_find(name, BYTES("=")));
    const char *nearest = suggest_nearest(name, names, count);
    if (nearest)
        return err_set(err, STATUS_USAGE, "unknown option %s; did you mean --%s?", text, nearest);
    return err_set(err, STATUS_USAGE, "unknown option %s", text);
}

static enum status check_count(const struct options *options, size_t least, size_t most,
                               struct err *err) {
    if (options->arg_count < least)
        return err_set(err, STATUS_USAGE, "an argument is missing");
    if (options->arg_count > most)
        return err_set(err, STATUS_USAGE, "\"%s\" is one argument too many", options->args[most]);
    return STATUS_OK;
}

enum status options_parse(const struct options_row *rows, int argc, char **argv, size_t least,
                          size_t most, struct options *out, struct err *err) {
    bool ended = false;
    reserve(out, argc);
    for (int i = 1; i < argc; i++) {
        if (ended || !is_option(argv[i])) {
            out->args[out->arg_count++] = argv[i];
            continue;
        }
        if (strcmp(argv[i], "--") == 0) {
            ended = true;
            continue;
        }
        struct word word = take_apart(rows, argv[i]);
        enum status status =
            word.row ? take(word, argc, argv, &i, out, err) : unknown(rows, argv[i], err);
        if (status != STATUS_OK)
            return status;
    }
    return check_count(out, least, most, err);
}

void options_free(struct options *options) {
    free(options->given);
    free(options->args);
    *options = (struct options){0};
}

const char *options_get(const struct options *options, const char *name) {
    assert(name);
    for (size_t i = options->given_count; i > 0; i--)
        if (strcmp(options->given[i - 1].row->name, name) == 0)
            return options->given[i - 1].value;
    return NULL;
}

bool options_has(const struct options *options, const char *name) {
    return options_get(options, name) != NULL;
}

int options_take_global(const struct options_row *rows, int argc, char **argv, struct options *out,
                        struct err *err) {
    int kept = 1, i = 1;
    reserve(out, argc);
    for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
        struct word own = {0}, global = {0};
        if (is_option(argv[i])) {
            own = take_apart(rows, argv[i]);
            global = take_apart(options_global, argv[i]);
        }
        if (!own.row && global.row) {
            if (take(global, argc, argv, &i, out, err) != STATUS_OK)
                return -1;
            continue;
        }
        argv[kept++] = argv[i];
        if (own.row && own.row->value && !own.value && i + 1 < argc)
            argv[kept++] = argv[++i];
    }
    while (i < argc)
        argv[kept++] = argv[i++];
    argv[kept] = NULL;
    return kept;
}
