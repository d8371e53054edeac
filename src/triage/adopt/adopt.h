/* adopt: dead letters of other systems become letters here (DESIGN §9, SEMANTICS §14).
 *
 * Each entry of the configuration's `adopt` is one place at a broker that holds dead letters. They
 * are read as their convention says (convention.h) and put into the entry's DLQ:
 *
 *   peek   one pass after each start. The broker keeps the messages; their letters are read-only
 *          (envelope.read_only), and every call that would change one is refused.
 *   take   for as long as the server runs. Each message is durable in the store before it is
 *          acknowledged at its broker. A message that was peeked before keeps its letter, which
 *          stops being read-only. A message that its system had scheduled for a later retry becomes
 *          a pending_retry message due at that time, if it has a configured queue (SEMANTICS 16).
 *
 * Seen messages are recorded in the store (SPACE_ADOPTED), in the commit that makes the letter: by
 * their coordinates at the broker and a hash of their content. A peeked message without coordinates
 * is recorded by a hash of its content and a count, so that neither another pass nor taking it
 * makes a duplicate letter. A taken message without coordinates that is redelivered after a crash
 * is recognised by its id and body alone (SEMANTICS 1.3). No message is acknowledged without a
 * durable letter.
 *
 * Each entry has its own thread, so that a broker that does not answer delays no other entry.
 * adopt_step runs one turn and may wait for the broker or the store; tests call it directly. */
#ifndef TRIAGE_ADOPT_H
#define TRIAGE_ADOPT_H

#include "port/broker.h"
#include "port/peek.h"
#include "triage/adopt/adopt_home.h"
#include "triage/triage.h"

enum adopt_mode { ADOPT_PEEK, ADOPT_TAKE };
extern const char *const adopt_mode_words[]; /* "peek" "take" NULL */

struct adopt_entry {
    struct bytes name;   /* unique; seen messages are recorded under it */
    struct bytes source; /* the broker's URL, already validated … */
    struct bytes server; /* … and the part of it that identifies the server */
    struct bytes dlq;
    struct bytes queue; /* the letters' queue; empty: the queue whose source they died in, otherwise
                           the one that their convention names */
    enum adopt_mode mode;
};

/* Settings of an entry's DLQ. */
struct adopt_dlq {
    uint64_t cap; /* letters in the DLQ at which reading stops */
    struct bytes owner;
};

struct adopt_options {
    struct triage *triage;
    const struct broker_kind *const *brokers; /* of entries; ends with NULL */
    const struct adopt_entry *entries;        /* borrowed; must outlive the adopter */
    size_t count;
    const struct adopt_home *homes; /* of queues with sources; borrowed as well */
    size_t home_count;
    /* Opens a pass over the messages there; NULL: the broker can only be consumed. */
    struct peek *(*peek)(void *arg, const struct adopt_entry *entry);
    struct broker *(*take)(void *arg, const struct adopt_entry *entry);
    /* The DLQ's current settings; texts are in the arena or outlive the process. */
    struct adopt_dlq (*dlq)(void *arg, struct bytes name, struct arena *arena);
    /* Whether the queue is configured. NULL: no queue is. */
    bool (*queue)(void *arg, struct bytes name);
    /* `letters` letters of the entry were added or became ours since the last call; 0: its state
     * changed. Called on the entry's thread. NULL: not needed. */
    void (*news)(void *arg, const struct adopt_entry *entry, uint64_t letters);
    void *arg;
};

struct adopt;

struct adopt *adopt_new(const struct adopt_options *options);
/* Runs the entry's turn if it is due. Returns when the next turn is due unless the broker wakes it.
 */
struct mono adopt_step(struct adopt *adopt, size_t place, struct instant now);
/* Runs turns on the calling thread until adopt_stop, then disconnects from the broker. */
void adopt_run(struct adopt *adopt, size_t place);
void adopt_stop(struct adopt *adopt);
void adopt_free(struct adopt *adopt); /* NULL-safe; only after every adopt_run has returned */

/* The state of an entry; read on any thread. Counters start at 0 with the process. */
struct adopt_view {
    const struct adopt_entry *entry;
    enum adopt_state {
        ADOPT_WAITING, /* not started, the DLQ is full, or the last try failed */
        ADOPT_READING, /* a pass is in progress; in mode take: connected */
        ADOPT_DONE,    /* the pass is complete */
        ADOPT_REFUSED, /* peeking would do harm, or the broker can only be consumed */
    } state;
    uint64_t adopted;   /* letters made since the start */
    uint64_t known;     /* messages whose letter existed already */
    uint64_t taken;     /* peeked letters that were taken */
    struct wall last;   /* time of the last message read; WALL_NEVER: none since the start */
    struct err trouble; /* why it waits or is refused, for people; empty: no error */
};
const char *adopt_state_text(enum adopt_state state); /* "waiting" "reading" "done" "refused" */
size_t adopt_count(const struct adopt *adopt);        /* NULL-safe */
void adopt_look(struct adopt *adopt, size_t place, struct adopt_view *out);
/* Appends an array with one object for each entry whose letters go to this DLQ; empty: all entries.
 * NULL: an empty array. */
void adopt_put(struct adopt *adopt, struct bytes dlq, struct json_out *json);

#endif
