/* audit: the audit log. Every change by a person or a triage rule writes one entry (who, what, why)
 * in the commit that makes the change, so that a crash leaves both or neither. */
#ifndef TRIAGE_QUERY_AUDIT_H
#define TRIAGE_QUERY_AUDIT_H

#include "triage/triage.h"

enum { AUDIT_LIMIT_DEFAULT = 50, AUDIT_LIMIT_MAX = 1000 };
/* Retention of an entry: a year and some weeks, so that one can look back over a whole year. */
#define AUDIT_KEPT_MS (INT64_C(400) * 24 * 3600 * 1000)

/* Texts that do not apply are empty. */
struct audit_entry {
    char id[UUID_TEXT_SIZE]; /* set by audit_begin */
    struct wall at;
    struct bytes who; /* the name that the caller gave */
    const char *what; /* "discard" "replay.abort" "queue.pause" … */
    struct bytes why;
    struct bytes subject;       /* the single letter, queue or replay concerned */
    struct bytes filter;        /* JSON: the filter that selected the letters */
    uint64_t count;             /* of changed letters */
    struct bytes before, after; /* JSON */
};

/* Sets the entry's id and time. */
void audit_begin(struct triage *triage, struct audit_entry *entry);
/* The op that writes the entry; writing it again replaces it (with another count). Texts are in the
 * arena. */
struct store_op audit_op(const struct audit_entry *entry, struct arena *arena);
/* The op that removes the entry: the change that it announced did not happen. */
struct store_op audit_drop(const struct audit_entry *entry, struct arena *arena);

/* Appends {"audit":[…],"cursor":…}, newest first. `cursor`: from the page before, or empty. */
enum status audit_list(struct triage *triage, struct bytes cursor, size_t limit, struct buf *out,
                       struct err *err);

#endif
