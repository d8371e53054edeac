/* filter: the options by which a verb says which letters it is about, the same for every verb that
 * takes some, and how they are asked for (DESIGN §6). */
#ifndef CLI_FILTER_H
#define CLI_FILTER_H

#include "base/json.h"
#include "cli/options.h"

/* Rows that narrow a list down. */
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

/* Rows of a verb that acts on letters. */
#define FILTER_ACTION FILTER_ACTION_OR_ALL("every letter: without any filter nothing is done")
/* The same with what is said of --all. */
#define FILTER_ACTION_OR_ALL(all_is)                                                               \
    {"dlq", "DLQ", "of this DLQ", 0}, {"queue", "QUEUE", "of this queue", 0}, FILTER_WORDS,        \
        {"all", NULL, all_is, 0}, {"limit", "N", "at most so many, the oldest", 0}, {              \
        "newest", NULL, "with --limit: the newest instead of the oldest", 0                        \
    }

#define FILTER_STATE                                                                               \
    { "state", "STATE", "in this state, or several: resolved,discarded", 0 }

/* The option's name as the API spells it: "-" is "_" there. */
void filter_word(const char *option, char name[32]);
/* Whether any row of FILTER_ACTION but the limit, or an id, says what is meant. */
bool filter_given(const struct options *options);
/* Members filter or ids, all, limit and order, of an object that is open. Arguments are ids. With
 * `until` (NULL: none), which a dry run gave: what it saw, and nothing that came since. */
void filter_put(const struct options *options, const char *until, struct json_out *json);

#endif
