/* triage: what decisions about letters need: the store, jq, the clock and new ids. One for the
 * whole server; every function may be called from any thread. */
#ifndef TRIAGE_TRIAGE_H
#define TRIAGE_TRIAGE_H

#include <pthread.h>

#include "base/rng.h"
#include "base/text/uuid.h"
#include "core/note_space.h"
#include "port/clock.h"
#include "port/jq.h"
#include "port/letters.h"

struct arrivals;

struct triage {
    struct store *store;
    struct jq *jq; /* NULL: jq is not available */
    struct clock *clock;
    struct instant began;
    struct arrivals *arrivals; /* NULL: not counted */
    struct bytes url;          /* base URL of this server for people: "http://127.0.0.1:7070" */
    pthread_mutex_t mutex;     /* guards rng */
    struct rng rng;
    pthread_mutex_t notes; /* held while a group's note is read and rewritten */
};

/* The caller sets store and jq. */
void triage_init(struct triage *triage, struct clock *clock, uint64_t seed);
void triage_free(struct triage *triage);

struct instant triage_now(struct triage *triage);
/* The wall time corrected for clock jumps (base/steady.h), for expiries. */
struct wall triage_steady_now(struct triage *triage);
void triage_new_id(struct triage *triage, struct wall now, char text[UUID_TEXT_SIZE]);
/* Submits a commit and waits until it is durable or refused. Not on the engine's, an HTTP or a
 * store's thread. */
enum status triage_commit(struct triage *triage, struct store_op *ops, size_t count,
                          struct err *err);

#endif
