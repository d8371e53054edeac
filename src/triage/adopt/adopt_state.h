/* adopt_state: private to the adopt_*.c files. A place belongs to its entry's thread, except `view`
 * (guarded by `mutex`), `wakeup` and `ready`. */
#ifndef TRIAGE_ADOPT_STATE_H
#define TRIAGE_ADOPT_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/thread/mailbox.h"
#include "base/containers/map.h"
#include "core/comeback.h"
#include "triage/adopt/adopt.h"
#include "triage/adopt/adopt_identity.h"

enum {
    ADOPT_AT_ONCE = 128,       /* messages that are read and committed together */
    ADOPT_TURNS = 16,          /* batches of a turn before the clock is read again */
    ADOPT_AGAIN_MS = 5 * 1000, /* between tries after an error, and while the DLQ is full */
    ADOPT_QUIET_MS =
        60 * 1000,        /* a drained broker silent for so long no longer has what was peeked */
    ADOPT_NAME_MAX = 300, /* of a record's name in the store */
};

/* How long a taken message is recorded, in case its broker redelivers it. */
#define ADOPT_REMEMBERED_MS (30LL * 24 * 3600 * 1000)

/* adopt_seen.c: what the store has recorded about a dead letter. */
enum adopt_seen_as {
    ADOPT_NEW,    /* never seen */
    ADOPT_PEEKED, /* has a letter and was not taken: read-only, unless it is gone from its broker */
    ADOPT_OURS,   /* has a letter and was taken */
};
struct adopt_seen {
    enum adopt_seen_as as;
    char name[ADOPT_NAME_MAX];  /* of the record in the store; "": it is not recorded */
    char also[ADOPT_NAME_MAX];  /* second record, written once it is taken; "": none */
    struct bytes letter, queue; /* not set for ADOPT_NEW */
    /* An earlier version recorded its coordinates without a hash of the content */
    bool printless;
};

/* One entry of the configuration. */
struct adopt_place {
    struct adopt *adopt;
    const struct adopt_entry *entry;
    struct peek *peek;     /* the pass in progress; NULL: none */
    struct broker *broker; /* the consumer in mode take; NULL: not started */
    bool crowded;          /* take: the DLQ was full the last time … */
    bool awaits; /* … and the broker may still hold peeked messages, which need no room */
    /* By identity (adopt_seen.c): in mode peek, how many came in this pass; in mode take, how many
     * from the first on were taken */
    struct map seen;
    struct mono due;
    struct mono quiet_from; /* take: time since which the broker gave nothing */
    bool released;          /* take: adopt_release is complete */
    struct mailbox wakeup;  /* wakes its thread; carries no mail */
    atomic_bool ready;      /* take: its broker may have something */
    struct adopt_view view;
};

struct adopt {
    struct adopt_options options;
    atomic_bool ending;
    pthread_mutex_t mutex;   /* of the views */
    pthread_mutex_t letting; /* held while a batch is added, by one place at a time: between the
                                look-up of free ids and room and the commit nothing may change */
    struct adopt_place *places;
};

/* adopt.c: the state shown to people. The first of consecutive errors is logged, and the recovery.
 */
void adopt_trouble(struct adopt_place *place, enum adopt_state state, const struct err *err);
void adopt_good(struct adopt_place *place, enum adopt_state state);
void adopt_full(struct adopt_place *place);
/* When to try again after an error; reads the clock, since the failed call may have taken long. */
struct mono adopt_again(struct adopt_place *place);
/* Free room in its DLQ, in letters. */
size_t adopt_room(struct adopt_place *place);

/* In mode peek: the record of the next message of this identity in the pass. */
enum status adopt_seen_peek(struct adopt_place *place, const struct adopt_identity *identity,
                            struct arena *arena, struct adopt_seen *out, struct err *err);
/* In mode take: the record of the message, or ADOPT_NEW. */
enum status adopt_seen_take(struct adopt_place *place, const struct adopt_identity *identity,
                            struct arena *arena, struct adopt_seen *out, struct err *err);
/* Reads the record named `out->name`; texts in the arena. */
enum status adopt_seen_read(struct bytes value, struct arena *arena, struct adopt_seen *out,
                            struct err *err);
/* The op that writes the record under its name or its second one; texts in the arena. */
struct store_op adopt_seen_op(const struct adopt_seen *seen, const char *name, struct wall expires,
                              struct arena *arena);
/* Expiry of a record that is kept only against redelivery. */
struct wall adopt_seen_until(struct wall now);
/* The op by which a read-only letter becomes an ordinary one; changes `letter`, which must live
 * until the commit is answered. `why` may be empty. */
struct store_op adopt_seen_own_op(struct store *store, struct message *letter, struct bytes why);
void adopt_seen_forget_counts(struct adopt_place *place);

/* adopt_release.c: the broker is drained. Once it has been for ADOPT_QUIET_MS, peeked letters whose
 * messages did not come stop being read-only. */
void adopt_release(struct adopt_place *place, struct instant now);

/* adopt_awaits.c: whether its broker may hold a peeked message, which needs no room. */
enum status adopt_awaits(struct adopt_place *place, bool *any, struct err *err);

/* adopt_comeback.c: a letter that was sent to its origin and died again, or a duplicate of a stored
 * one. `came` is the message as a letter of its own. */
struct adopt_comeback {
    enum comeback_is is;
    struct message *letter; /* the letter, to be freed; with COMEBACK_STRANGER the one that has its
                               id, if any */
    bool id_held;           /* the queue holds a message with this id */
};
enum status adopt_comeback_find(struct store *store, const struct message *message,
                                const struct message *came, struct adopt_comeback *out,
                                struct err *err);
/* The op by which the letter is dead again; changes `letter`, and borrows from both until it is
 * submitted. */
struct store_op adopt_comeback_op(struct store *store, struct message *letter,
                                  const struct message *came);

/* adopt_own.c: whether the message is an advisory about a message that one of our own queues
 * terminated, and that therefore has its letter. */
enum status adopt_own(struct adopt_place *place, const struct message *held, bool *own,
                      struct err *err);

/* adopt_batch.c: makes letters of received messages. The first *done of them are durable; fewer
 * than all after an error, or where the DLQ is full. The messages stay the caller's, unchanged. */
enum status adopt_batch(struct adopt_place *place, struct message *const *held, size_t count,
                        size_t *done, struct err *err);

/* adopt_turn.c: one turn of an entry. */
void adopt_turn(struct adopt_place *place, struct instant now);
/* Closes the pass or the consumer. */
void adopt_turn_end(struct adopt_place *place);

#endif
