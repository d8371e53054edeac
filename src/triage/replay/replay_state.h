/* replay_state: private to the replay*.c files.
 *
 *   place ──▶ sending (prepared: checked, edited) ──▶ commit ──▶ in flight ("under way") ──▶
 * outcome
 *
 * A letter's place is its number in the order of sending, oldest first. If the frozen list is
 * newest first, the last part is sent first, from its end. `next` is the first place that was not
 * prepared yet. Everything is guarded by the mutex of struct replays. */
#ifndef TRIAGE_REPLAY_REPLAY_STATE_H
#define TRIAGE_REPLAY_REPLAY_STATE_H

#include "base/json/json.h"
#include "base/thread/mailbox.h"
#include "base/containers/map.h"
#include "triage/replay/send_rate.h"
#include "triage/replay/failure_guard.h"
#include "triage/replay/replay_part.h"
#include "triage/replay/replays.h"

enum {
    REPLAY_WINDOW_MAX = 256,     /* letters being prepared */
    REPLAY_PREPARING_MAX = 32,   /* of those, with a check or an edit in flight */
    REPLAY_BATCH_MAX = 256,      /* letters in one commit; their bytes are bounded as well */
    REPLAY_UNDER_WAY_LEAST = 64, /* letters in flight: at most so many, or … */
    REPLAY_UNDER_WAY_TIMES = 4,  /* … so many times the concurrency of the queue */
    REPLAY_LOOK_MS = 50,         /* between checks of its queue */
    REPLAY_WAIT_MS = 200,        /* … while it waits */
    REPLAY_SECOND_MS = 1000,     /* between writes of the progress, and checks of the DLQs */
    REPLAY_AGAIN_MS = 1000,      /* until the retry of a failed commit */
    REPLAY_NAMES_MAX = 16,       /* names of queues and DLQs that are kept */
    REPLAY_WATCHED_MAX = 65536,  /* letters at their origin that may come back */
    /* Bytes of the bodies in the window, before and after the edit; above it no letter is read. */
    REPLAY_WINDOW_BYTES = 2 * STORE_COMMIT_BYTES,
};

struct replay;

/* Mail to the replays' thread. */
struct replay_mail {
    struct mail mail;
    void (*open)(struct replays *replays, struct replay_mail *mail);
};

/* A letter being prepared for sending. */
struct sending {
    struct replay_mail mail; /* posted when a check or an edit answered */
    struct list link;        /* in replay->window, by place */
    struct replay *replay;
    uint64_t place;
    struct message *held;
    enum sending_step { SENDING_CHECK, SENDING_EDIT, SENDING_READY, SENDING_OVER } step;
    enum replay_outcome outcome; /* OVER: why it is not sent */
    char why[REPLAY_WHY_MAX];
    struct bytes body; /* edited body; ptr NULL: unchanged */
    struct jq_job job;
    struct call call;
    struct handler *check;
    struct bytes hash; /* path of the hash in the body, for the check */
    bool
        moved; /* moving to another queue, in two commits: the first, which claims it, is durable */
    /* `split`: original body and update are too large for one commit, so that the original is
     * committed first; `original_kept`: it is durable. */
    bool split, original_kept;
    size_t bytes; /* of its bodies in memory, counted in replay->window_bytes */
    size_t op;    /* index of its op in the commit */
};

/* A letter in flight: sent, and its outcome is not known yet. */
struct replay_under_way {
    struct map_node node;
    struct list link; /* in replay->watching, while watched */
    uint64_t place;
    struct mono sent_at;
    uint64_t number;      /* number in the failure guard, from 1 on; 0: sent before the restart */
    uint64_t fingerprint; /* of its failure before the replay */
    char id[];            /* of the letter */
};

struct replay {
    struct list link; /* in replays->active */
    struct replays *replays;
    char id[UUID_TEXT_SIZE];
    struct arena arena; /* of the order's texts and the names */
    struct replay_order order;
    enum replay_state state;
    char why[REPLAY_WHY_MAX];
    struct wall created_at, started_at, ended_at;
    uint64_t selected;
    struct replay_counts counts;
    struct bytes queues[REPLAY_NAMES_MAX], dlqs[REPLAY_NAMES_MAX];
    size_t queue_count, dlq_count;
    uint64_t *claims; /* hashes of the letter ids, sorted */

    uint64_t next;
    struct list parts;  /* parts with letters in flight, and the one being sent */
    struct list window; /* struct sending */
    size_t preparing,
        going; /* in the window: checks and edits in flight; letters that may still be sent */
    size_t window_bytes; /* of the bodies in the window */
    struct map under_way;
    size_t under_way_max;
    struct map watched;   /* letters at their origin, resolved, for FAILURE_GUARD_SECONDS: they may
                             come   back dead */
    struct list watching; /* the same letters, oldest first */
    struct send_rate pace;
    struct failure_guard relapse;
    struct mono looked_at, second_at; /* last check of its queue; of its DLQs */
    char blocked[REPLAY_WHY_MAX];
    uint64_t dlq_total; /* letters that ever arrived in its DLQs, at second_at; 0: unknown */

    struct replay_mail commit_mail;
    struct store_commit commit;
    struct store_op *ops;
    size_t batch; /* letters at the front of the window that are in the commit */
    size_t
        batch_max; /* maximum of letters in the next commit; lower after one that was too large */
    bool original_alone; /* the commit contains only the original body of the first letter */
    bool committing, commit_closes;
    enum status commit_status;
    struct mono again;            /* earliest time of the next commit */
    char refused[REPLAY_WHY_MAX]; /* why the store refused the last commit; "": it did not */
    struct store_keep last_words,
        spoken;    /* audit entry for the next commit; audit entry in the present one */
    bool changed;  /* changes are not in a commit yet */
    bool relapsed; /* aborted by itself since the start */
    bool closed;   /* over, and its final state is durable */
    struct mono written_at;
};

struct replays {
    struct triage *triage;
    struct replay_around around;
    struct mailbox mailbox;
    pthread_mutex_t mutex; /* guards everything below */
    struct list active;
    struct instant now; /* time of the current step */
    struct replays_totals totals;
    struct replays_relapse relapses[REPLAYS_RELAPSES_MAX];
    size_t relapse_count; /* since the start; the newest are kept */
    bool stopping;
};

/* replays.c */
void replays_post(struct replays *replays, struct replay_mail *mail);
struct replay *replays_find(struct replays *replays, struct bytes id);

/* replay_job.c: one replay in memory. */
struct replay *replay_new(struct replays *replays, const char *id);
void replay_free(struct replay *replay);
void replay_set_order(struct replay *replay, const struct replay_order *order);
void replay_add_name(struct replay *replay, struct bytes *names, size_t *count, struct bytes name);
bool replay_is_over(const struct replay *replay); /* aborted or done */
void replay_sort_claims(struct replay *replay);
bool replay_claims(const struct replay *replay, struct bytes letter_id);
void replay_set_state(struct replay *replay, enum replay_state state, const char *why);
/* Index in the frozen list of a place; the same function maps back. */
uint64_t replay_frozen(const struct replay *replay, uint64_t place);
/* The part of a place, loaded if necessary. NULL: it cannot be read, and the replay was aborted. */
struct replay_part *replay_part_of(struct replay *replay, uint64_t place, uint32_t *at);
void replay_note(struct replay *replay, uint64_t place, enum replay_outcome outcome,
                 struct bytes why);
void replay_put_under_way(struct replay *replay, uint64_t place, struct bytes letter_id,
                          uint64_t fingerprint);
/* The letter is at its origin: resolved, but watched for a while, since it may come back dead. */
void replay_watch(struct replay *replay, struct replay_under_way *under_way_take);
struct replay_under_way *replay_find_watched(const struct replay *replay, struct bytes letter_id);
void replay_end_watched(struct replay *replay, struct replay_under_way *watched);
void replay_drop_watched(struct replay *replay); /* those watched for long enough */
struct replay_under_way *replay_find_under_way(const struct replay *replay, struct bytes letter_id);
void replay_end_under_way(struct replay *replay, struct replay_under_way *under_way);
void replay_drop_parts(
    struct replay *replay); /* those without anything left to send, await or write */

/* replay_doc.c: a replay as JSON, for the API and for crash recovery. */
void replay_doc_put(const struct replay *replay, struct buf *out);
void replay_doc_put_order(struct json_out *json, const struct replay_order *order);
enum status replay_doc_read(struct bytes json, struct replay *replay, struct err *err);
struct store_op replay_doc_op(const struct replay *replay, struct arena *arena);
struct store_op replay_mark_op(const struct replay *replay, bool open, struct arena *arena);
struct store_op replay_relapse_op(const struct replay *replay, struct arena *arena);
struct bytes replay_doc_name(struct bytes id, struct arena *arena);

/* replay_ready.c: prepares letters. */
/* The input of an edit: the body, or null if the message behind the letter is gone. */
struct bytes replay_editable(const struct message *held);
void replay_ready(struct replay *replay, uint64_t place, const struct replay_letter *letter);
void replay_ready_drop(struct sending *sending);
void replay_ready_cancel(struct replay *replay);

/* replay_send.c: the commits. */
bool replay_send_wanted(const struct replay *replay);
void replay_send(struct replay *replay);

/* replay_stage.c: advances a replay. Returns when it is due again. */
struct mono replay_advance(struct replay *replay);
/* The outcome of a letter, and the failure if it is dead again. */
struct replay_end_of_letter {
    enum replay_outcome outcome;
    uint64_t fingerprint; /* 0: not dead again */
    struct bytes why;
};
void replay_heard(struct replay *replay, struct replay_under_way *under_way,
                  const struct replay_end_of_letter *end);
/* The same for a watched letter. */
void replay_came_back(struct replay *replay, struct replay_under_way *watched,
                      const struct replay_end_of_letter *end);
void replay_abort(struct replay *replay, struct bytes who, struct bytes why);
void replay_note_relapse(const struct replay *replay); /* adds it to replays_relapses */

/* replay_plan.c: validates an order. INVALID: the edit does not compile, or there is no such queue.
 * Waits for jq. */
enum status replay_plan_check(struct replays *replays, const struct replay_order *order,
                              struct err *err);

/* replay_freeze.c */
/* Selects the letters, writes the parts, and sets selected, claims and names. Called without the
 * mutex; waits for the store. After an error the parts are removed again. */
enum status replay_freeze(struct replay *replay, const struct replay_order *order, struct err *err);
/* INVALID: the letter cannot be sent where the order says: there is no such queue or origin, it has
 * no body, or its body may not be the original's. `origin` gets the description of the origin, with
 * `to: origin`. */
enum status replay_check_way(struct replays *replays, const struct replay_order *order,
                             const struct envelope *letter, char origin[REPLAY_ORIGIN_SIZE],
                             struct err *err);
/* CONFLICT: an active replay claims the letter, or it is being replayed. */
enum status replay_check_free(struct replays *replays, const struct envelope *letter,
                              struct err *err);

#endif
