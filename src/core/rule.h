/* rule: conditions on a failure, and the verdict if they hold.
 *
 * A rule's `when` is a conjunction: every given condition must match. Conditions that need another
 * library (a PCRE2 pattern, a jq program) are not matched here: the caller evaluates them
 * beforehand and passes the results as facts, one bit per rule (SEMANTICS 10.3). */
#ifndef CORE_RULE_H
#define CORE_RULE_H

#include "core/outcome.h"
#include "core/words.h"

enum {
    RULE_STATUS_RANGES_MAX = 16,
    RULE_EXIT_CODES_MAX = 16,
    RULES_MAX = 128, /* a queue's own rules */
};

struct rule_range {
    int from, to; /* both included */
};

enum rule_emptiness { RULE_EMPTY_ANY, RULE_EMPTY_YES, RULE_EMPTY_NO };
/* A list of globs in static memory; empty: any text. */
struct rule_globs {
    const struct bytes *list;
    size_t count;
};

struct rule_when {
    struct rule_range statuses[RULE_STATUS_RANGES_MAX]; /* 429 → 429..429, 5xx → 500..599 */
    size_t status_count;
    uint32_t kinds; /* bit per enum kind; 0: any */
    struct rule_range exit_codes[RULE_EXIT_CODES_MAX];
    size_t exit_code_count;
    struct rule_range signals;  /* 0..0: any */
    struct rule_range attempts; /* 0..0: any */
    struct bytes error_type;    /* glob, case ignored; empty: any. The last part of a name is tried
                                   too, behind ".", "::", "$" or "+" */
    struct rule_globs types;    /* presets: one of them must match error_type, as above or without
                                   "Error", "_error" or "Exception" at its end */
    struct rule_globs messages; /* presets: one of them must match the whole error_message */
    struct rule_range message_status; /* presets: an HTTP status that the error_message begins with
                                         (rule_message_status); 0..0: any */
    struct rule_range told_status;    /* presets: an HTTP status that it tells otherwise
                                         (told_status.h); 0..0: any */
    struct bytes message_has;    /* presets: substring of error_message, case ignored; a number only
                                    where it stands alone ("503" is not in "15037") */
    struct bytes message_starts; /* presets: glob on the whole error_message, case ignored; ends
                                    with a star */
    bool says_when;              /* presets: the failure has a Retry-After */
    struct bytes header_name;    /* a header of the message; empty: any */
    struct bytes header_value;   /* glob; empty: the header need only exist */
    struct bytes message;        /* user rules: PCRE2 source. Matched outside, see facts */
    struct bytes jq;             /* user rules: jq source. Matched outside, see facts */
    struct bytes body;           /* answer rules: PCRE2 source on the answer. Matched outside */
    enum rule_emptiness empty;   /* answer rules */
};

struct rule {
    struct rule_when when;
    enum verdict verdict;
    struct bytes category;
    struct bytes reason;
    struct bytes dlq;  /* empty: the queue's routing decides */
    struct bytes name; /* "orders.rules[1]", "preset:http[3]": the envelope's `rule` */
    bool downstream;   /* presets: the failure speaks against the downstream's health, also where a
                          worker's exit code says nothing of it (SEMANTICS 4.1) */
};

struct rule_header {
    struct bytes name, value;
};

/* The facts that a rule may use. */
struct rule_subject {
    const struct outcome *outcome;
    uint32_t attempt; /* this one, from 1 */
    const struct rule_header *headers;
    size_t header_count;
};

/* Bit i: the outside conditions (message, jq) of the queue's own rule i all matched. A rule that
 * has none is matched without looking here. */
struct rule_facts {
    uint64_t bits[RULES_MAX / 64];
    uint64_t answers[RULES_MAX / 64]; /* bit i: the queue's own answer rule i matched the answer */
};
void rule_facts_set(struct rule_facts *facts, size_t rule_index);
void rule_facts_set_answer(struct rule_facts *facts, size_t rule_index);
/* The first answer rule that matched; RULES_MAX: none did. */
size_t rule_facts_answer(const struct rule_facts *facts);

bool rule_needs_facts(const struct rule *rule);
/* The HTTP status that a message begins with, 0 when it does not. Words that clients put before it
 * may stand in front ("Error code: 429 - …", "Request failed with status code 503", "Client error
 * '401 …"); where nothing does, its own phrase or punctuation must follow ("503 Service
 * Unavailable"): "503 orders were skipped" is no status. */
int rule_message_status(struct bytes message);
/* The facts that an answer rule may use (SEMANTICS §15). */
struct rule_answer {
    int status; /* 0: the handler has none */
    struct bytes text;
    const struct rule_header *headers;
    size_t header_count;
};
/* Matches everything but body and jq. An answer is empty if it has no text, only white space, or is
 * the JSON null. */
bool rule_matches_answer(const struct rule_when *when, const struct rule_answer *answer);
/* Matches everything but message and jq. */
bool rule_matches_inside(const struct rule_when *when, const struct rule_subject *subject);

#endif
