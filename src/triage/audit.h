/* audit: who changed what, and why. Every change that a person or a rule makes leaves one entry,
 * written in the commit that makes the change, so that neither is there without the other. */
#ifndef TRIAGE_AUDIT_H
#define TRIAGE_AUDIT_H

#include "triage/triage.h"

enum { AUDIT_LIMIT_DEFAULT = 50, AUDIT_LIMIT_MAX = 1000 };
/* How long an entry is kept: a year and some weeks, so that a year can be looked back upon. */
#define AUDIT_KEPT_MS (INT64_C(400) * 24 * 3600 * 1000)

/* Texts that do not apply are empty. */
struct audit_entry {
    char id[UUID_TEXT_SIZE]; /* set by audit_begin */
    struct wall at;
    struct bytes who; /* as the caller named itself */
    const char *what; /* "discard" "replay.abort" "queue.pause" … */
    struct bytes why;
    struct bytes subject;       /* the one letter, queue or replay that it is about */
    struct bytes filter;        /* JSON: what the letters were chosen by */
    uint64_t count;             /* of letters that it changed */
    struct bytes before, after; /* JSON */
};

/* Gives the entry its id and time. */
void audit_begin(struct triage *triage, struct audit_entry *entry);
/* The op that writes it; written again, it replaces itself (with another count). Lives in the
 * arena. */
struct store_op audit_op(const struct audit_entry *entry, struct arena *arena);
/* The op that takes it back: what it announced did not happen. */
struct store_op audit_drop(const struct audit_entry *entry, struct arena *arena);

/* Appends {"audit":[…],"cursor":…}, newest first. `cursor`: from the page before, or empty. */
enum status audit_list(struct triage *triage, struct bytes cursor, size_t limit, struct buf *out,
                       struct err *err);

#endif
