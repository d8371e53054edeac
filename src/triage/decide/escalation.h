/* escalation: the letters of one escalation, stored until receivers were notified.
 *
 * A decision, a triage rule, or a replay whose letter reached max_replays commits a record of the
 * escalated letters together with their marks, one for each DLQ:
 * {"dlq","words","count","at","rule","letters":[{"id","message_id","queue","reason","error","url"}]}.
 * The alerts read the records (alarm_sample.c) and remove each after its notice was sent. */
#ifndef TRIAGE_DECIDE_ESCALATION_H
#define TRIAGE_DECIDE_ESCALATION_H

#include "triage/triage.h"

enum {
    ESCALATION_LETTERS_MAX = 50, /* letters listed in a notice; its count has no limit */
    ESCALATION_ERROR_MAX = 200,  /* bytes of each letter's error */
    ESCALATION_REASON_MAX = 128, /* bytes of each letter's reason */
    ESCALATION_WORDS_MAX = 256,
    ESCALATION_TEXT_MAX = 256 * 1024, /* bytes of a record */
    ESCALATION_PAGE = 64,             /* records read at a time */
};

struct escalation {
    struct triage *triage;
    char id[UUID_TEXT_SIZE];
    struct bytes dlq, words; /* heap */
    bool of_rule;            /* escalated by a triage rule */
    uint64_t count;
    size_t listed;
    struct buf letters; /* JSON array, without its brackets */
    struct escalation *next;
};

/* An empty escalation. `words` says who escalates and why, without the count; `id` is not empty. */
struct escalation *escalation_new(struct triage *triage, struct bytes id, struct bytes dlq,
                                  struct bytes words, bool of_rule);
/* The same, starting with the letters that are stored under this id and DLQ. */
struct escalation *escalation_more(struct triage *triage, struct bytes id, struct bytes dlq,
                                   struct bytes words, struct err *err);
void escalation_free(struct escalation *escalation);
void escalation_add(struct escalation *escalation, const struct envelope *letter);
/* The op that stores it, and the op that removes it; texts are in the arena. */
struct store_op escalation_op(const struct escalation *escalation, struct wall now,
                              struct arena *arena);
struct store_op escalation_drop_op(struct bytes name);

/* A stored record. */
struct escalation_record {
    struct bytes name; /* "ID:DLQ" */
    struct bytes id, dlq, words, letters;
    bool of_rule;
    uint64_t count;
    struct wall at; /* time of the last letter */
};

/* Up to ESCALATION_PAGE records, oldest first, in the arena. */
enum status escalation_list(struct triage *triage, struct arena *arena,
                            struct escalation_record *out, size_t *count, struct err *err);

#endif
