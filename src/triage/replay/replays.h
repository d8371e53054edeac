/* replays: durable plans that send letters again (DESIGN §9, SEMANTICS §12).
 *
 * A replay hands nothing over itself. It changes letters from pending_review to replaying in the
 * store, at its send rate, and the engine hands them over; the engine reports each outcome after
 * its commit. The selection is frozen in the store before the replay starts, and the letters sent
 * are recorded in the same commits that send them, so that after a crash the replay is resumed
 * without sending a letter twice.
 *
 * replays_step does what is due and never waits; tests call it directly. replays_run calls it on a
 * thread of its own. */
#ifndef TRIAGE_REPLAY_REPLAYS_H
#define TRIAGE_REPLAY_REPLAYS_H

#include "triage/replay/replay.h"
#include "triage/replay/replay_order.h"

enum { REPLAYS_ACTIVE_MAX = 64, REPLAYS_LIMIT_DEFAULT = 50, REPLAYS_LIMIT_MAX = 1000 };

struct replays;

struct replays *replays_new(struct triage *triage, const struct replay_around *around);
/* Crash recovery: resumes the replays that were active. Before the engine's first turn and the
 * first step. */
enum status replays_recover(struct replays *replays, struct err *err);
/* Returns when the next step is due unless mail arrives. */
struct mono replays_step(struct replays *replays, struct instant now);
/* Runs steps on the calling thread until replays_stop. */
void replays_run(struct replays *replays);
/* Any thread. Nothing more is sent; replays_run returns once no commit, check or edit is in flight.
 */
void replays_stop(struct replays *replays);
void replays_free(struct replays *replays);

/* The engine has committed the outcome of a letter. Any thread; never waits. */
void replays_heard(struct replays *replays, const struct envelope *letter);

/* ---- calls of the API; they may wait ---- */

/* Appends the plan as JSON; changes nothing. CONFLICT names the replay that claims a letter. */
enum status replays_plan(struct replays *replays, const struct replay_order *order, struct buf *out,
                         struct err *err);
/* Freezes the selection and starts the replay; durable when it returns. */
enum status replays_start(struct replays *replays, const struct replay_order *order,
                          char id[UUID_TEXT_SIZE], struct err *err);

enum replay_change { REPLAY_PAUSE, REPLAY_RESUME, REPLAY_ABORT };
/* NOT_FOUND; CONFLICT: it has ended. */
enum status replays_change(struct replays *replays, struct bytes id, enum replay_change change,
                           struct bytes who, struct bytes why, struct err *err);

/* {"id",…,"letters":[{"id","queue","outcome","why"?}],"cursor"}: letters in the order of sending;
 * with limit 0 without letters. */
enum status replays_show(struct replays *replays, struct bytes id, uint64_t from, size_t limit,
                         struct buf *out, struct err *err);
/* The end of a replay. */
struct replays_end {
    bool over;    /* every outcome is known; the rest is valid only then */
    bool aborted; /* aborted, `why` says why */
    struct replay_counts counts;
    char why[256];
};
/* NOT_FOUND. */
enum status replays_ended(struct replays *replays, struct bytes id, struct replays_end *out,
                          struct err *err);
/* Whether an active replay claims the letter, sent or not. */
bool replays_claim(struct replays *replays, struct bytes letter_id);
/* Whether letters can be sent to such a queue. */
bool replays_know(struct replays *replays, struct bytes queue);
/* {"replays":[…],"cursor"}, newest first. */
enum status replays_list(struct replays *replays, struct bytes cursor, size_t limit,
                         struct buf *out, struct err *err);

/* A replay that aborted itself. */
struct replays_relapse {
    char id[UUID_TEXT_SIZE];
    char queue[256]; /* queue of its letters; the first of several */
    char why[256];
    struct wall at;
};
enum { REPLAYS_RELAPSES_MAX = 16 };
/* The latest ones, including those from before a restart, in no order; returns their number. */
size_t replays_relapses(struct replays *replays, struct replays_relapse out[REPLAYS_RELAPSES_MAX]);

struct replays_totals {
    uint64_t active[REPLAY_STATE_COUNT];
    struct replay_counts letters; /* since the start of the process, by outcome */
    uint64_t aborted;
};
void replays_totals(struct replays *replays, struct replays_totals *out);

#endif
