/* triage_rules_state: what the files of the triage rules share and nobody else sees.
 *
 * The thread of the rules alone adds entries and changes which rule they are of. An entry's course
 * is changed by whoever has made it busy, and only behind a commit; `mutex` is held for the moment
 * of the change, and by those who look. */
#ifndef TRIAGE_TRIAGE_RULES_STATE_H
#define TRIAGE_TRIAGE_RULES_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/list.h"
#include "base/mailbox.h"
#include "base/map.h"
#include "triage/triage_rules.h"

enum {
    TRIAGE_LABEL_MAX = 300,
    TRIAGE_LOOK_MS = 1000,        /* how often a run is looked after */
    TRIAGE_AGAIN_MS = 10 * 1000,  /* after trouble of ours */
    TRIAGE_TICKET_MS = 60 * 1000, /* how long a ticket is told of: alerts look more often */
};

/* One rule of one DLQ, by its place. Those that left the configuration keep their figures. */
struct triage_entry {
    struct map_node node;
    struct list link; /* in rules->entries, in the order of the file */
    struct triage_rules *rules;
    char *name;                     /* in the store: "orders.dlq/0" */
    char label[TRIAGE_LABEL_MAX];   /* for people: "orders.dlq[0]" */
    struct bytes dlq;               /* a part of the name */
    uint64_t seen;                  /* in which look at the configuration */
    const struct triage_rule *rule; /* NULL: it has left the configuration */
    struct triage_dlq place;
    char *wanted; /* the rule as JSON; NULL with it */
    char *known;  /* … as the course knows it; NULL: it has none yet */
    struct triage_course course;
    char *under_way; /* RUNNING, compensate: a JSON array of ids; else NULL */
    struct mono due;
    char told[UUID_TEXT_SIZE]; /* the ticket that `ticket_until` is of */
    struct mono ticket_until;
    bool busy;
};

struct triage_rules {
    struct triage_rules_options options;
    struct mailbox mailbox;
    struct arena arena; /* what the configuration said; the thread's alone */
    uint64_t looks;     /* at the configuration */
    atomic_bool reloaded, ending;
    pthread_mutex_t mutex; /* guards what follows, and the entries */
    struct map by_name;
    struct list entries;
};

/* triage_entry.c: one rule in memory and in the store. */
struct triage_entry *triage_entry_of(struct triage_rules *rules, struct bytes dlq, size_t place);
void triage_entry_free(struct triage_entry *entry);
enum status triage_entry_load(struct triage_rules *rules, const struct letters_note *kept,
                              struct err *err);
/* Now it is this rule; with the mutex. */
void triage_entry_set(struct triage_entry *entry, const struct triage_dlq *place,
                      const struct triage_rule *rule);
/* When it is due, by its course; with the mutex. */
void triage_entry_schedule(struct triage_entry *entry, struct instant now);
bool triage_entry_claim(struct triage_entry *entry); /* false: somebody else is busy with it */
void triage_entry_release(struct triage_entry *entry);
/* The text that says `next`; in the arena. `under_way` may be BYTES_NONE. */
struct store_keep triage_entry_keep(const struct triage_entry *entry,
                                    const struct triage_course *next, struct bytes under_way,
                                    struct arena *arena);
/* It is so from now on: durable, or not worth it. */
void triage_entry_install(struct triage_entry *entry, const struct triage_course *next,
                          struct bytes under_way, struct instant now);
/* "triage:orders.dlq[0]", in the arena */
struct bytes triage_entry_who(const struct triage_entry *entry, struct arena *arena);

/* triage_run.c: one run of a rule. Both wait; trouble is logged, and tried again later. */
void triage_run(struct triage_entry *entry, struct instant now);
/* triage_look.c: whether a run is over, and what it came to. */
void triage_look(struct triage_entry *entry, struct instant now);

#endif
