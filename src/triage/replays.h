/* replays: durable plans that send letters round again (DESIGN §9, SEMANTICS §12).
 *
 * A replay never sends anything itself. It changes letters from pending_review to replaying in the
 * store, at its pace, and the engine hands them over; what became of each is heard from the engine
 * after its commit. Its selection is frozen in the store before it starts, and what it has sent
 * stands in the same commits that send it, so that a life that ends anywhere is taken up by the
 * next one without sending anything twice.
 *
 * replays_step does what is due and never waits, so that a test can drive it by hand; replays_run
 * is the thread that calls it. */
#ifndef TRIAGE_REPLAYS_H
#define TRIAGE_REPLAYS_H

#include "triage/replay.h"
#include "triage/replay_order.h"

enum { REPLAYS_ACTIVE_MAX = 64, REPLAYS_LIMIT_DEFAULT = 50, REPLAYS_LIMIT_MAX = 1000 };

struct replays;

struct replays *replays_new(struct triage *triage, const struct replay_around *around);
/* Takes up what an earlier life left. Before the engine's first turn and the first step. */
enum status replays_recover(struct replays *replays, struct err *err);
/* Returns when the next step is wanted if nothing happens before. */
struct mono replays_step(struct replays *replays, struct instant now);
/* Steps until replays_stop; the calling thread becomes the replays'. */
void replays_run(struct replays *replays);
/* From any thread: nothing more is sent; replays_run returns when nothing is under way. */
void replays_stop(struct replays *replays);
void replays_free(struct replays *replays);

/* What the engine made of a letter, durable by now. From any thread; never waits. */
void replays_heard(struct replays *replays, const struct envelope *letter);

/* ---- what people ask; these may wait ---- */

/* The plan as JSON: changes nothing. CONFLICT names the replay that has a letter already. */
enum status replays_plan(struct replays *replays, const struct replay_order *order, struct buf *out,
                         struct err *err);
/* Freezes the selection and starts; durable when it returns. */
enum status replays_start(struct replays *replays, const struct replay_order *order,
                          char id[UUID_TEXT_SIZE], struct err *err);

enum replay_change { REPLAY_PAUSE, REPLAY_RESUME, REPLAY_ABORT };
/* NOT_FOUND; CONFLICT when it is over. */
enum status replays_change(struct replays *replays, struct bytes id, enum replay_change change,
                           struct bytes who, struct bytes why, struct err *err);

/* {"id",…,"letters":[{"id","queue","outcome","why"?}],"cursor"}: letters in the order of sending,
 * or with a limit of 0 none of them. */
enum status replays_show(struct replays *replays, struct bytes id, uint64_t from, size_t limit,
                         struct buf *out, struct err *err);
/* How a replay ended. */
struct replays_end {
    bool over;    /* every outcome is known; what follows holds only then */
    bool aborted; /* … and its `why` says by what */
    struct replay_counts counts;
    char why[256];
};
/* NOT_FOUND. */
enum status replays_ended(struct replays *replays, struct bytes id, struct replays_end *out,
                          struct err *err);
/* Whether an active replay has the letter, sent or not. */
bool replays_claim(struct replays *replays, struct bytes letter_id);
/* Whether there is such a queue to send to. */
bool replays_know(struct replays *replays, struct bytes queue);
/* {"replays":[…],"cursor"}, newest first. */
enum status replays_list(struct replays *replays, struct bytes cursor, size_t limit,
                         struct buf *out, struct err *err);

/* A replay that stopped itself. */
struct replays_relapse {
    char id[UUID_TEXT_SIZE];
    char queue[256]; /* of its letters; the first of several */
    char why[256];
    struct wall at;
};
enum { REPLAYS_RELAPSES_MAX = 16 };
/* The last few, of earlier lives too, in no order; returns how many. */
size_t replays_relapses(struct replays *replays, struct replays_relapse out[REPLAYS_RELAPSES_MAX]);

struct replays_totals {
    uint64_t active[REPLAY_STATE_COUNT];
    struct replay_counts
        letters; /* since the start of this life; what is sent is counted as such */
    uint64_t aborted;
};
void replays_totals(struct replays *replays, struct replays_totals *out);

#endif
