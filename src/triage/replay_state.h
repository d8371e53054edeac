/* replay_state: what the files of the replays share and nobody else sees.
 *
 *   place ──▶ sending (got ready: checked, edited) ──▶ commit ──▶ under way ──▶ outcome
 *
 * Letters have places in the order of sending, oldest first. Where the list that froze them was
 * newest first, the last part is sent first, from its end. `next` is the first place that was not
 * looked at yet. All of it is guarded by the mutex of struct replays. */
#ifndef TRIAGE_REPLAY_STATE_H
#define TRIAGE_REPLAY_STATE_H

#include "base/json.h"
#include "base/mailbox.h"
#include "base/map.h"
#include "triage/pace.h"
#include "triage/relapse.h"
#include "triage/replay_part.h"
#include "triage/replays.h"

enum {
    REPLAY_WINDOW_MAX = 256,     /* letters that are got ready at a time */
    REPLAY_PREPARING_MAX = 32,   /* … of those, with a check or an edit under way */
    REPLAY_BATCH_MAX = 256,      /* letters in one commit; their bytes are bounded as well */
    REPLAY_UNDER_WAY_LEAST = 64, /* sent, and not heard of yet: at most so many, or … */
    REPLAY_UNDER_WAY_TIMES = 4,  /* … so many times the concurrency of the queue */
    REPLAY_LOOK_MS = 50,         /* how often its queue is looked at */
    REPLAY_WAIT_MS = 200,        /* … while it waits */
    REPLAY_SECOND_MS = 1000,     /* how often progress is written, and DLQs are looked at */
    REPLAY_AGAIN_MS = 1000,      /* after a commit that failed */
    REPLAY_NAMES_MAX = 16,       /* queues and DLQs that are watched */
    REPLAY_WATCHED_MAX = 65536,  /* letters that are at their origin, and may come back */
    /* Bodies in the window, before and after the edit: no letter is read while there are more. */
    REPLAY_WINDOW_BYTES = 2 * STORE_COMMIT_BYTES,
};

struct replay;

/* Mail to the replays' thread. */
struct replay_mail {
    struct mail mail;
    void (*open)(struct replays *replays, struct replay_mail *mail);
};

/* One letter that is got ready. */
struct sending {
    struct replay_mail mail; /* posted when a check or an edit answered */
    struct list link;        /* in replay->window, by place */
    struct replay *replay;
    uint64_t place;
    struct message *held;
    enum sending_step { SENDING_CHECK, SENDING_EDIT, SENDING_READY, SENDING_OVER } step;
    enum replay_outcome outcome; /* OVER: it is not sent, and why */
    char why[REPLAY_WHY_MAX];
    struct bytes body; /* edited; ptr NULL: as it is */
    struct jq_job job;
    struct call call;
    struct handler *check;
    struct bytes hash; /* a path into the body, with the check */
    bool moved;        /* to another queue, in two commits: it is claimed in its own already */
    /* Its original body and its update were too large for one commit: the original is committed
     * first; it has been. */
    bool split, original_kept;
    size_t bytes; /* of its bodies in memory, counted in replay->window_bytes */
    size_t op;    /* in the commit; of a letter that is sent */
};

/* A letter in the engine's hands. */
struct replay_under_way {
    struct map_node node;
    struct list link; /* in replay->watching, while it is watched */
    uint64_t place;
    struct mono sent_at;
    uint64_t number;      /* among those sent in this life, from 1 on; 0: before it */
    uint64_t fingerprint; /* of what it died of before */
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
    uint64_t *claims; /* hashes of the letters' ids, sorted */

    uint64_t next;
    struct list parts;       /* those with letters under way, and the one that is being sent */
    struct list window;      /* struct sending */
    size_t preparing, going; /* of the window: steps under way; what will be sent */
    size_t window_bytes;     /* of the bodies in the window */
    struct map under_way;
    size_t under_way_max;
    struct map
        watched; /* resolved, at their origin, for RELAPSE_SECONDS: they may come back dead … */
    struct list watching; /* … the same, oldest first */
    struct pace pace;
    struct relapse relapse;
    struct mono looked_at, second_at; /* at its queue; at its DLQs */
    char blocked[REPLAY_WHY_MAX];
    uint64_t dlq_total; /* letters that ever arrived in its DLQs, at second_at; 0: not known */

    struct replay_mail commit_mail;
    struct store_commit commit;
    struct store_op *ops;
    size_t batch;        /* the first so many of the window are in the commit */
    size_t batch_max;    /* letters in the next commit: fewer after one that was too large */
    bool original_alone; /* the commit keeps the original of the window's first letter */
    bool committing, commit_closes;
    enum status commit_status;
    struct mono again;            /* no commit before this */
    char refused[REPLAY_WHY_MAX]; /* why the store refused the last commit; "": it did not */
    struct store_keep last_words, spoken; /* its audit entry, for the next commit; in this one */
    bool changed;                         /* what people see of it is not in a commit yet */
    bool relapsed;                        /* it stopped itself, in this life */
    bool closed;                          /* over, and written down as such */
    struct mono written_at;
};

struct replays {
    struct triage *triage;
    struct replay_around around;
    struct mailbox mailbox;
    pthread_mutex_t mutex; /* guards what follows */
    struct list active;
    struct instant now; /* of this step */
    struct replays_totals totals;
    struct replays_relapse relapses[REPLAYS_RELAPSES_MAX];
    size_t relapse_count; /* ever; the newest are kept */
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
bool replay_is_over(const struct replay *replay); /* aborted or done: nothing more is sent */
void replay_sort_claims(struct replay *replay);
bool replay_claims(const struct replay *replay, struct bytes letter_id);
void replay_set_state(struct replay *replay, enum replay_state state, const char *why);
/* Where in the frozen list the letter of a place stands; and back, which is the same. */
uint64_t replay_frozen(const struct replay *replay, uint64_t place);
/* The part that a place is in, loaded if need be. NULL: it cannot be read, and the replay was
 * aborted for it. */
struct replay_part *replay_part_of(struct replay *replay, uint64_t place, uint32_t *at);
void replay_note(struct replay *replay, uint64_t place, enum replay_outcome outcome,
                 struct bytes why);
void replay_put_under_way(struct replay *replay, uint64_t place, struct bytes letter_id,
                          uint64_t fingerprint);
/* It is at its origin: resolved, but for a while it may come back dead. */
void replay_watch(struct replay *replay, struct replay_under_way *under_way_take);
struct replay_under_way *replay_find_watched(const struct replay *replay, struct bytes letter_id);
void replay_end_watched(struct replay *replay, struct replay_under_way *watched);
void replay_drop_watched(struct replay *replay); /* those whose time is over */
struct replay_under_way *replay_find_under_way(const struct replay *replay, struct bytes letter_id);
void replay_end_under_way(struct replay *replay, struct replay_under_way *under_way);
void replay_drop_parts(struct replay *replay); /* those that nothing is left to do with */

/* replay_doc.c: a replay as JSON, for people and for the next life. */
void replay_doc_put(const struct replay *replay, struct buf *out);
void replay_doc_put_order(struct json_out *json, const struct replay_order *order);
enum status replay_doc_read(struct bytes json, struct replay *replay, struct err *err);
struct store_op replay_doc_op(const struct replay *replay, struct arena *arena);
struct store_op replay_mark_op(const struct replay *replay, bool open, struct arena *arena);
struct store_op replay_relapse_op(const struct replay *replay, struct arena *arena);
struct bytes replay_doc_name(struct bytes id, struct arena *arena);

/* replay_ready.c: gets one letter ready. */
/* What an edit is given: its body, or null where it pointed at a message that is gone. */
struct bytes replay_editable(const struct message *held);
void replay_ready(struct replay *replay, uint64_t place, const struct replay_letter *letter);
void replay_ready_drop(struct sending *sending);
void replay_ready_cancel(struct replay *replay);

/* replay_send.c: the commits. */
bool replay_send_wanted(const struct replay *replay);
void replay_send(struct replay *replay);

/* replay_stage.c: what a replay does now. Returns when it wants to be looked at again. */
struct mono replay_advance(struct replay *replay);
/* What became of a letter: its outcome, and where it is dead again, of what. */
struct replay_end_of_letter {
    enum replay_outcome outcome;
    uint64_t fingerprint; /* 0: it is not dead again */
    struct bytes why;
};
void replay_heard(struct replay *replay, struct replay_under_way *under_way,
                  const struct replay_end_of_letter *end);
/* One that is watched. */
void replay_came_back(struct replay *replay, struct replay_under_way *watched,
                      const struct replay_end_of_letter *end);
void replay_abort(struct replay *replay, struct bytes who, struct bytes why);
void replay_note_relapse(const struct replay *replay); /* for replays_relapses */

/* replay_plan.c: INVALID: the edit does not compile, or there is no such queue. Waits. */
enum status replay_plan_check(struct replays *replays, const struct replay_order *order,
                              struct err *err);

/* replay_freeze.c */
/* Chooses the letters, writes the parts, and sets selected, claims and names. May wait; without the
 * mutex. On trouble the parts are dropped again. */
enum status replay_freeze(struct replay *replay, const struct replay_order *order, struct err *err);
/* INVALID: nothing leads to where it is to go, there is nothing that could, or what would go to its
 * origin may not be from there. `origin` gets the words for where that is, of `to: origin`. */
enum status replay_check_way(struct replays *replays, const struct replay_order *order,
                             const struct envelope *letter, char origin[REPLAY_ORIGIN_SIZE],
                             struct err *err);
/* CONFLICT when an active replay has the letter, or it is being replayed. */
enum status replay_check_free(struct replays *replays, const struct envelope *letter,
                              struct err *err);

#endif
