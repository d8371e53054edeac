/* feature: what a feature of the engine implements, and the table of all of them.
 *
 * The engine's own files (the loop, attempt.c, judge.c, commit.c, settle.c …) take every message
 * the same way. What only some queues or messages have — leases, mirrors, order, idempotency … —
 * stands in engine/features, one file for each, and joins at the moments below. features/features.c
 * lists them in the order in which they are asked: a reader finds everything that may happen to an
 * attempt there. A feature may call the engine's own files; they never call it but through the
 * table.
 *
 * Every member may be NULL. Where one returns bool, the first true ends the round, and what the
 * engine would have done next is the feature's to do. All of it runs on the engine's thread. */
#ifndef ENGINE_FEATURE_H
#define ENGINE_FEATURE_H

#include "base/json/json.h"
#include "engine/state.h"

struct engine_feature {
    const char *name;

    /* ---- one attempt, in the order of its life ---- */

    /* It is about to be handed over for the first time in this attempt. */
    void (*prepare)(struct attempt *attempt);
    /* True: it goes another way than to its queue's handler. */
    bool (*before_call)(struct attempt *attempt);
    /* The call that is about to start is filled in. */
    void (*fill_call)(struct attempt *attempt);
    /* … and may start. True: the feature starts it with others. */
    bool (*before_start)(struct attempt *attempt);
    /* Its outcome is there. True: evaluate_rules follows when the feature is through. */
    bool (*before_judging)(struct attempt *attempt);
    /* Decides in place of the queue's policy, or carries out what was decided in place of judge.c.
     */
    bool (*decide)(struct attempt *attempt, struct decision *out);
    bool (*carry_out)(struct attempt *attempt, const struct decision *decision);
    /* True: nothing is decided yet, and the feature calls it again. */
    bool (*sets_aside)(struct attempt *attempt, const struct decision *decision);
    /* True: its outcome says nothing new to the breaker. */
    bool (*is_told)(struct attempt *attempt, const struct decision *decision);
    /* A hand-over has ended so. */
    void (*ended)(struct attempt *attempt, const struct decision *decision);
    /* It succeeded: what else belongs into its commit. */
    void (*succeeded)(struct attempt *attempt);
    /* It becomes a letter: its envelope says so. */
    void (*died)(struct attempt *attempt);
    /* What was decided stands in its envelope. */
    void (*judged)(struct attempt *attempt, const struct decision *decision);
    /* The same, of everything that is decided, attempted or not. */
    void (*result)(struct attempt *attempt, enum attempt_result result);
    /* Its call is over for good: another handler's follows, or its commit. */
    void (*leaves)(struct attempt *attempt);
    /* It is about to join a commit. True: the feature calls commit_join or commit_abandon. */
    bool (*in_commit)(struct attempt *attempt);
    /* Its commit failed, and whoever waits for that is told now. True: the feature goes on with it,
     * or it is gone. Otherwise … */
    bool (*refused)(struct attempt *attempt, enum status status, const struct err *err);
    /* … it is submitted again, and those who asked are told that it takes longer. */
    void (*postponed)(struct attempt *attempt, const struct err *err);
    /* What it waits for is published later. */
    void (*delayed)(struct attempt *attempt, const struct err *err);
    /* Its commit is durable. True: it lives on. */
    bool (*lives_on)(struct attempt *attempt);
    void (*settled)(struct attempt *attempt);
    /* True: its source is not told that it is settled. */
    bool (*keeps_source)(struct attempt *attempt);
    /* The attempt is about to be freed. */
    void (*freed)(struct attempt *attempt);

    /* ---- a queue ---- */

    void (*begin)(struct queue *queue);   /* it is made */
    void (*recover)(struct queue *queue); /* before the first turn */
    void (*fed)(struct queue *queue);     /* all that may go in this turn was handed over */
    void (*resumed)(struct queue *queue); /* by a person */
    void (*hold)(struct queue *queue);    /* the engine begins to stop */
    void (*cancel)(struct queue *queue);  /* the drain is over */
    void (*save)(struct queue *queue, struct json_out *facts); /* what outlives a restart … */
    void (*load)(struct queue *queue, struct json facts, struct arena *arena); /* … and was saved */
    struct mono (*queue_wake)(const struct queue *queue);
    void (*forget)(struct queue *queue); /* it is freed: before its attempts … */
    void (*end)(struct queue *queue);    /* … and after */

    /* ---- the engine ---- */

    void (*ring)(struct engine *engine); /* a turn begins: what is due by time */
    /* A commit is about to be built. True: it failed for some attempts, and `err` says why. */
    bool (*before_commit)(struct engine *engine, struct err *err);
    void (*turn_ends)(struct engine *engine); /* its queues are fed */
    struct mono (*next_wake)(const struct engine *engine);
    void (*drop)(struct engine *engine); /* it is freed */
};

/* Ends with NULL. */
extern const struct engine_feature *const engine_features[];

/* Asks in turn until one says true. */
#define FEATURES_ANY(member, ...)                                                                  \
    __extension__({                                                                                \
        bool any_ = false;                                                                         \
        for (const struct engine_feature *const *at_ = engine_features; *at_ && !any_; at_++)      \
            any_ = (*at_)->member && (*at_)->member(__VA_ARGS__);                                  \
        any_;                                                                                      \
    })

#define FEATURES_TELL(member, ...)                                                                 \
    do {                                                                                           \
        for (const struct engine_feature *const *at_ = engine_features; *at_; at_++)               \
            if ((*at_)->member)                                                                    \
                (*at_)->member(__VA_ARGS__);                                                       \
    } while (0)

#endif
