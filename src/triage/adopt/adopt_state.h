/* adopt_state: what the adopter's files share and nobody else sees. A place is its thread's alone,
 * except the view, which `mutex` guards. */
#ifndef TRIAGE_ADOPT_STATE_H
#define TRIAGE_ADOPT_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/mailbox.h"
#include "base/map.h"
#include "core/comeback.h"
#include "triage/adopt/adopt.h"
#include "triage/adopt/adopt_identity.h"

enum {
    ADOPT_AT_ONCE = 128,        /* messages that are read and committed together */
    ADOPT_TURNS = 16,           /* … so often before the clock is read again */
    ADOPT_AGAIN_MS = 5 * 1000,  /* after trouble, and while the DLQ is full */
    ADOPT_QUIET_MS = 60 * 1000, /* what was peeked and did not come for so long is not there */
    ADOPT_NAME_MAX = 300,       /* of what was seen, in the store */
};

/* What was taken is remembered for so long, should its broker give it again. */
#define ADOPT_REMEMBERED_MS (30LL * 24 * 3600 * 1000)

/* adopt_seen.c: what is remembered of a dead letter. */
enum adopt_seen_as {
    ADOPT_NEW,    /* never seen */
    ADOPT_PEEKED, /* a letter here, and not taken: read-only, unless nobody else has it any more */
    ADOPT_OURS,   /* a letter that was taken */
};
struct adopt_seen {
    enum adopt_seen_as as;
    char name[ADOPT_NAME_MAX];  /* in the store; "": it is not remembered */
    char also[ADOPT_NAME_MAX];  /* … and once it is ours under this, too; "": not */
    struct bytes letter, queue; /* not of a new one */
    /* An earlier build remembered its coordinates, and nothing of what it was */
    bool printless;
};

/* One entry of the configuration. */
struct adopt_place {
    struct adopt *adopt;
    const struct adopt_entry *entry;
    struct peek *peek;     /* the pass that is under way; NULL: none */
    struct broker *broker; /* what is taken from; NULL: not begun */
    bool crowded;          /* take: the DLQ was full the last time … */
    bool awaits;           /* … and something may come that has its letter, and needs no room */
    /* By identity, of those that look the same (adopt_seen.c): peek: how many came in this pass;
     * take: how many, from the first on, were taken */
    struct map seen;
    struct mono due;
    struct mono quiet_from; /* take: since when nothing came */
    bool released;          /* take: what was peeked and is gone has been looked for */
    struct mailbox bell;    /* wakes its thread; no mail comes */
    atomic_bool ready;      /* take: its broker may have something */
    struct adopt_view view;
};

struct adopt {
    struct adopt_options options;
    atomic_bool ending;
    pthread_mutex_t mutex;   /* of the views */
    pthread_mutex_t letting; /* letters in, by one place at a time: it looks which ids are free and
                              * how much room there is before it commits */
    struct adopt_place *places;
};

/* adopt.c: what people see of it. The first of a row of troubles is logged, and its end. */
void adopt_trouble(struct adopt_place *place, enum adopt_state state, const struct err *err);
void adopt_good(struct adopt_place *place, enum adopt_state state);
void adopt_full(struct adopt_place *place);
/* When to try again after trouble, which may have taken long. */
struct mono adopt_again(struct adopt_place *place);
/* How many letters its DLQ can still take. */
size_t adopt_room(struct adopt_place *place);

/* In a pass: the next one of this identity that comes. */
enum status adopt_seen_peek(struct adopt_place *place, const struct adopt_identity *identity,
                            struct arena *arena, struct adopt_seen *out, struct err *err);
/* Taken: which letter it is, or that it is a new one. */
enum status adopt_seen_take(struct adopt_place *place, const struct adopt_identity *identity,
                            struct arena *arena, struct adopt_seen *out, struct err *err);
/* What is remembered under `out->name`; texts in the arena. */
enum status adopt_seen_read(struct bytes value, struct arena *arena, struct adopt_seen *out,
                            struct err *err);
/* The op that remembers it so, under its name or its other one; in the arena. */
struct store_op adopt_seen_op(const struct adopt_seen *seen, const char *name, struct wall expires,
                              struct arena *arena);
/* For how long one is remembered that nothing hangs on any more. */
struct wall adopt_seen_until(struct wall now);
/* The op by which a read-only letter becomes one that people may decide about; changes `letter`,
 * which must live until it is submitted. `why` may be empty. */
struct store_op adopt_seen_own_op(struct store *store, struct message *letter, struct bytes why);
void adopt_seen_forget_counts(struct adopt_place *place);

/* adopt_release.c: nothing waits at its broker. Once that has been so for long, those that were
 * peeked and did not come are ours. */
void adopt_release(struct adopt_place *place, struct instant now);

/* adopt_awaits.c: whether its broker may have something that was peeked, and so needs no room. */
enum status adopt_awaits(struct adopt_place *place, bool *any, struct err *err);

/* adopt_comeback.c: a letter that was sent to its origin, dead again; or a copy of one that is
 * here. `came` is what the message would be as a letter of its own. */
struct adopt_comeback {
    enum comeback_is is;
    struct message *letter; /* which it is, to be freed; of a stranger whatever there is */
    bool id_held;           /* its queue holds a message with its id */
};
enum status adopt_comeback_find(struct store *store, const struct message *message,
                                const struct message *came, struct adopt_comeback *out,
                                struct err *err);
/* The op by which it is dead again; changes `letter`, and borrows from both until it is submitted.
 */
struct store_op adopt_comeback_op(struct store *store, struct message *letter,
                                  const struct message *came);

/* adopt_own.c: whether it tells of a message that one of our own queues terminated, so that its
 * letter is here. */
enum status adopt_own(struct adopt_place *place, const struct message *held, bool *own,
                      struct err *err);

/* adopt_batch.c: makes letters of what a broker gave. The first *done of them are safe; fewer than
 * all on trouble, or where the DLQ is full. Messages stay the caller's, as they are. */
enum status adopt_batch(struct adopt_place *place, struct message *const *held, size_t count,
                        size_t *done, struct err *err);

/* adopt_turn.c: what an entry does when it is its turn. */
void adopt_turn(struct adopt_place *place, struct instant now);
/* Closes what is open at its broker. */
void adopt_turn_end(struct adopt_place *place);

#endif
