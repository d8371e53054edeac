/* filter: see the header. */
#include "cli/filter.h"

#include <stdio.h>
#include <string.h>

/* Verbs that act on letters alone have no --state. */
static const struct options_row action_rows[] = {FILTER_ACTION, FILTER_STATE, {0}};

void filter_word(const char *option, char name[32]) {
    snprintf(name, 32, "%s", option);
    for (char *dash; (dash = strchr(name, '-'));)
        *dash = '_';
}

static bool is_word(const struct options_row *row) {
    return row->value && strcmp(row->name, "limit") != 0;
}

static bool has_words(const struct options *options) {
    for (const struct options_row *row = action_rows; row->name; row++)
        if (is_word(row) && options_has(options, row->name))
            return true;
    return false;
}

bool filter_given(const struct options *options) {
    return options->arg_count > 0 || options_has(options, "all") || has_words(options);
}

static void put_words(const struct options *options, const char *until, struct json_out *json) {
    json_key(json, "filter");
    json_open(json, '{');
    if (until) {
        json_key(json, "until");
        json_put_str(json, until);
    }
    for (const struct options_row *row = action_rows; row->name; row++) {
        char name[32];
        if (!is_word(row) || !options_has(options, row->name) ||
            (until && strcmp(row->name, "until") == 0))
            continue;
        filter_word(row->name, name);
        json_key(json, name);
        json_put_str(json, options_get(options, row->name));
    }
    json_close(json, '}');
}

static void put_ids(const struct options *options, struct json_out *json) {
    json_key(json, "ids");
    json_open(json, '[');
    for (size_t i = 0; i < options->arg_count; i++)
        json_put_str(json, options->args[i]);
    json_close(json, ']');
}

static void put_limit(const struct options *options, struct json_out *json) {
    const char *limit = options_get(options, "limit");
    uint64_t number;
    if (!limit)
        return;
    json_key(json, "limit");
    if (bytes_u64(bytes_of(limit), &number) && number <= INT64_MAX)
        json_put_i64(json, (int64_t)number);
    else
        json_put_str(json, limit); /* the server reports the error */
}

static void put_order(const struct options *options, struct json_out *json) {
    if (!options_has(options, "newest"))
        return;
    json_key(json, "order");
    json_put_str(json, "newest");
}

void filter_put(const struct options *options, const char *until, struct json_out *json) {
    if (options->arg_count > 0)
        put_ids(options, json);
    if (until || has_words(options))
        put_words(options, until, json);
    if (options_has(options, "all") && !until) {
        json_key(json, "all");
        json_put_bool(json, true);
    }
    put_limit(options, json);
    put_order(options, json);
}
