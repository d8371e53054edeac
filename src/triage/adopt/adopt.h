/* adopt: dead letters that other systems wrote become letters here (DESIGN §9, SEMANTICS §14).
 *
 * Each entry of the configuration's `adopt` is one place where dead letters lie. They are read as
 * their convention says (convention.h) and put into the entry's DLQ:
 *
 *   peek   one pass after each start. The broker keeps them; here they are read-only
 *          (envelope.read_only), and every call that would decide about one is refused.
 *   take   for as long as we live. Each is durable here first and settled at its broker second.
 *          One that was peeked before is the same letter, which people may decide about from now
 *          on. What its system had set for a later retry is no letter but a message that waits for
 *          that time, where it has a queue (SEMANTICS 16).
 *
 * What was seen is remembered in the store (SPACE_ADOPTED), in the commit that makes the letter: by
 * its coordinates at the broker and a print of what stands there. What has no coordinates is
 * remembered when it is looked at, by a hash of all that was given and a count, so that neither
 * another pass nor the taking makes a second letter of it; when it is taken and comes again after a
 * kill, it is known by its id and body alone (SEMANTICS 1.3). None is settled without a letter.
 *
 * Each entry has a thread of its own, since a broker that does not answer must hold up nobody else.
 * adopt_step does what is to be done and may wait for a broker's or the store's answer; a test
 * drives it by hand. */
#ifndef TRIAGE_ADOPT_H
#define TRIAGE_ADOPT_H

#include "port/broker.h"
#include "port/peek.h"
#include "triage/adopt/adopt_home.h"
#include "triage/triage.h"

enum adopt_mode { ADOPT_PEEK, ADOPT_TAKE };
extern const char *const adopt_mode_words[]; /* "peek" "take" NULL */

struct adopt_entry {
    struct bytes name;   /* unique; what was seen is remembered under it */
    struct bytes source; /* a broker's URL, checked before … */
    struct bytes server; /* … and what of it says which server that is */
    struct bytes dlq;
    struct bytes queue; /* that the letters belong to; empty: the one whose source they died in,
                         * else as their convention says */
    enum adopt_mode mode;
};

/* What an entry's DLQ says. */
struct adopt_dlq {
    uint64_t cap; /* as many letters as may be in it before nothing more is read */
    struct bytes owner;
};

struct adopt_options {
    struct triage *triage;
    const struct broker_kind *const *brokers; /* that entries may lead to; ends with NULL */
    const struct adopt_entry *entries;        /* for as long as the adopter lives */
    size_t count;
    const struct adopt_home *homes; /* of queues with sources; for as long */
    size_t home_count;
    /* A pass over what lies there; NULL: its broker cannot be read without taking. */
    struct peek *(*peek)(void *arg, const struct adopt_entry *entry);
    struct broker *(*take)(void *arg, const struct adopt_entry *entry);
    /* What holds at this moment; texts in the arena, or as good as for ever. */
    struct adopt_dlq (*dlq)(void *arg, struct bytes name, struct arena *arena);
    /* Whether there is such a queue. NULL: there is none. */
    bool (*queue)(void *arg, struct bytes name);
    /* So many letters of the entry are new, or ours, since they were last told of; 0: its state is
     * another. From the entry's thread. NULL: nobody asks. */
    void (*news)(void *arg, const struct adopt_entry *entry, uint64_t letters);
    void *arg;
};

struct adopt;

struct adopt *adopt_new(const struct adopt_options *options);
/* An entry's turn, if it is time for one. Returns when the next is wanted if nothing happens
 * before.
 */
struct mono adopt_step(struct adopt *adopt, size_t place, struct instant now);
/* Steps until adopt_stop, then leaves the broker; the calling thread becomes the entry's. */
void adopt_run(struct adopt *adopt, size_t place);
void adopt_stop(struct adopt *adopt);
void adopt_free(struct adopt *adopt); /* NULL-safe; nobody runs an entry any more */

/* How an entry is doing; from any thread. */
struct adopt_view {
    const struct adopt_entry *entry;
    enum adopt_state {
        ADOPT_WAITING, /* nothing was read yet, or its DLQ is full, or there is trouble */
        ADOPT_READING, /* a pass is under way; taking: connected */
        ADOPT_DONE,    /* the pass is over */
        ADOPT_REFUSED, /* looking would do harm, or its broker cannot be read without taking */
    } state;
    uint64_t adopted;   /* letters that became ones here, in this life */
    uint64_t known;     /* … that were known already */
    uint64_t taken;     /* … that were peeked before, and are ours now */
    struct wall last;   /* when one was last read; WALL_NEVER: not in this life */
    struct err trouble; /* why it waits or is refused, in words for people; empty: it does not */
};
const char *adopt_state_text(enum adopt_state state); /* "waiting" "reading" "done" "refused" */
size_t adopt_count(const struct adopt *adopt);        /* NULL-safe */
void adopt_look(struct adopt *adopt, size_t place, struct adopt_view *out);
/* An array of objects, one for each entry whose letters go to this DLQ; empty: to any. NULL: there
 * are none. */
void adopt_put(struct adopt *adopt, struct bytes dlq, struct json_out *json);

#endif
