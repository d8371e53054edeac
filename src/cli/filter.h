/* filter: the options that select letters, the same for every verb, and their form in requests
 * (DESIGN §6). */
#ifndef CLI_FILTER_H
#define CLI_FILTER_H

#include "base/json/json.h"
#include "cli/options.h"

/* Options that narrow a list. */
#define FILTER_WORDS                                                                               \
    {"category", "CATEGORY", "such as timeout, validation, bug", 0},                               \
        {"reason", "PREFIX", "the reason, or how it begins (behind max_attempts:)", 0},            \
        {"cause", "CAUSE", "terminal, exhausted, expired, crash, unclassified, …", 0},             \
        {"error-type", "TYPE", "such as KeyError", 0},                                             \
        {"task-type", "TYPE", "tasks of this type, as reported or adopted", 0},                    \
        {"fingerprint", "HEX", "the same failure", 0},                                             \
        {"since", "TIME", "dead since: 2026-01-31T12:00:00Z, or 6h ago", 0},                       \
        {"until", "TIME", "dead until", 0}, {"min-attempts", "N", "tried at least that often", 0}, \
        {"key", "KEY", "with this key", 0}, {"escalated", "true|false", "escalated, or not", 0},   \
        {"q", "TEXT", "full text of the errors", 0}, {                                             \
        "where", "JQ", "a jq program on the envelope, such as '.message.size > 1000'", 0           \
    }

/* Options of a verb that acts on letters. */
#define FILTER_ACTION FILTER_ACTION_OR_ALL("every letter: without any filter nothing is done")
/* The same with another description of --all. */
#define FILTER_ACTION_OR_ALL(all_is)                                                               \
    {"dlq", "DLQ", "of this DLQ", 0}, {"queue", "QUEUE", "of this queue", 0}, FILTER_WORDS,        \
        {"all", NULL, all_is, 0}, {"limit", "N", "at most so many, the oldest", 0}, {              \
        "newest", NULL, "with --limit: the newest instead of the oldest", 0                        \
    }

#define FILTER_STATE                                                                               \
    { "state", "STATE", "in this state, or several: resolved,discarded", 0 }

/* The option's name as the API spells it: "-" is "_" there. */
void filter_word(const char *option, char name[32]);
/* Whether any option of FILTER_ACTION except the limit, or an id, selects letters. */
bool filter_given(const struct options *options);
/* Writes the members filter or ids, all, limit and order of an open object. Arguments are ids.
 * `until` (NULL: none) comes from a dry run: it restricts the action to the letters that the dry
 * run saw. */
void filter_put(const struct options *options, const char *until, struct json_out *json);

#endif
