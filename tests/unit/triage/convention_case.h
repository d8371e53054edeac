/* A dead letter as a broker gives it, and the letter that it is here. What a case does not name
 * must be empty. */
#ifndef TEST_CONVENTION_CASE_H
#define TEST_CONVENTION_CASE_H

#include "test.h"

#include "triage/adopt/formats/convention.h"

#define CASE_ENTRY "legacy"
#define CASE_NOW   "2026-11-15T12:00:00.000Z" /* when it is adopted */

#define B(literal)                                                                                 \
    { (literal), sizeof(literal) - 1 }

enum { CASE_HEADERS_MAX = 16 };

struct convention_case {
    const char *source;
    struct rule_header headers[CASE_HEADERS_MAX];
    struct bytes key, body;
    const char *delivery; /* the broker's mark: a score; NULL: none */
    const char *written;  /* when the broker says that the letter was written; NULL: it does not */

    const char *name, *queue;
    const char *origin; /* the source afterwards */
    const char *reason, *category, *type, *message, *trace;
    uint32_t attempts, max_attempts;
    const char *created;             /* NULL: the earliest of `written` and what follows */
    const char *first, *last, *dead; /* NULL: `written`, or as the one before */
    const char *retry_at;            /* when its system would have retried it; NULL: it is dead */
    const char *id;                  /* NULL: it stays the broker's */
    struct bytes key_after, body_after; /* ptr NULL: as before */
    const char *content_type;           /* NULL: it stays */
    const char *added;                  /* the header that came with the body, "name=value" */
    const char *task, *instance;
    const char *beside; /* the context's members but "adopted" */
    const char *why;
    enum state state;     /* 0: pending_review */
    const char *resolved; /* when; NULL: never */
    const char *history;  /* "1 retry timeout TimeoutError 503\n", a line each; NULL: none */
};

void convention_case_check(const struct convention_case *cases, size_t count);

#endif
