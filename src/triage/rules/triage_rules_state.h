/* triage_rules_state: private to the triage_*.c files.
 *
 * Only the rules' thread adds entries and sets their rules. An entry's schedule (course) is changed
 * only by the thread that has claimed it (`busy`), and only after a commit; `mutex` is held for the
 * change itself, and by readers. */
#ifndef TRIAGE_RULES_TRIAGE_RULES_STATE_H
#define TRIAGE_RULES_TRIAGE_RULES_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/containers/list.h"
#include "base/thread/mailbox.h"
#include "base/containers/map.h"
#include "triage/rules/triage_rules.h"

enum {
    TRIAGE_LABEL_MAX = 300,
    TRIAGE_LOOK_MS = 1000,        /* between checks of a run in progress */
    TRIAGE_AGAIN_MS = 10 * 1000,  /* after an error */
    TRIAGE_TICKET_MS = 60 * 1000, /* lifetime of a ticket: alerts sample more often */
};

/* One rule of one DLQ, by its index. Entries that left the configuration keep their counters. */
struct triage_entry {
    struct map_node node;
    struct list link; /* in rules->entries, in the order of the file */
    struct triage_rules *rules;
    char *name;                     /* in the store: "orders.dlq/0" */
    char label[TRIAGE_LABEL_MAX];   /* for people: "orders.dlq[0]" */
    struct bytes dlq;               /* a part of the name */
    uint64_t seen;                  /* number of the configuration in which it was last present */
    const struct triage_rule *rule; /* NULL: no longer configured */
    struct triage_dlq place;
    char *wanted; /* the rule as JSON; NULL without a rule */
    char *known;  /* the rule that the stored schedule is for; NULL: none stored yet */
    struct rule_schedule course;
    char *under_way; /* RUNNING, compensate: JSON array of letter ids; otherwise NULL */
    struct mono due;
    char told[UUID_TEXT_SIZE]; /* the ticket to which `ticket_until` belongs */
    struct mono ticket_until;
    bool busy;
};

struct triage_rules {
    struct triage_rules_options options;
    struct mailbox mailbox;
    struct arena arena; /* of the configuration; used by the rules' thread alone */
    uint64_t looks;     /* number of the present configuration */
    atomic_bool reloaded, ending;
    pthread_mutex_t mutex; /* guards everything below, and the entries */
    struct map by_name;
    struct list entries;
};

/* triage_entry.c: one rule in memory and in the store. */
struct triage_entry *triage_entry_of(struct triage_rules *rules, struct bytes dlq, size_t place);
void triage_entry_free(struct triage_entry *entry);
enum status triage_entry_load(struct triage_rules *rules, const struct letters_note *kept,
                              struct err *err);
/* Sets its rule; called with the mutex. */
void triage_entry_set(struct triage_entry *entry, const struct triage_dlq *place,
                      const struct triage_rule *rule);
/* Sets when it is due; called with the mutex. */
void triage_entry_schedule(struct triage_entry *entry, struct instant now);
bool triage_entry_claim(struct triage_entry *entry); /* false: it is claimed already */
void triage_entry_release(struct triage_entry *entry);
/* The stored form of `next`; in the arena. `under_way` may be BYTES_NONE. */
struct store_keep triage_entry_keep(const struct triage_entry *entry,
                                    const struct rule_schedule *next, struct bytes under_way,
                                    struct arena *arena);
/* Takes over `next`, which is durable (or only changes `why`). */
void triage_entry_install(struct triage_entry *entry, const struct rule_schedule *next,
                          struct bytes under_way, struct instant now);
/* "triage:orders.dlq[0]", in the arena */
struct bytes triage_entry_who(const struct triage_entry *entry, struct arena *arena);

/* triage_run.c: one run of a rule. Waits for the store; errors are logged and retried later. */
void triage_run(struct triage_entry *entry, struct instant now);
/* triage_look.c: whether a run has ended, and its result. */
void triage_look(struct triage_entry *entry, struct instant now);

#endif
