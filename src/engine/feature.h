/* feature: the interface of the engine's features, and the table of all of them.
 *
 * The engine's core files (the loop, attempt.c, judge.c, commit.c, settle.c …) treat every message
 * alike. Behaviour that only some queues or messages have (leases, mirrors, order, idempotency …)
 * is in engine/features, one file for each, and is called at the points below. features/features.c
 * lists the features in the order in which they are called: everything that may happen to an
 * attempt is found there. A feature may call the core files; they call a feature through the table
 * only.
 *
 * Every member may be NULL. Where a member returns bool, the first true ends the round, and the
 * feature takes over the engine's next step. All of it runs on the engine's thread. */
#ifndef ENGINE_FEATURE_H
#define ENGINE_FEATURE_H

#include "base/json/json.h"
#include "engine/state.h"

struct engine_feature {
    const char *name;

    /* ---- one attempt, in the order of its lifecycle ---- */

    /* The message is about to be handed over for the first time in this attempt. */
    void (*prepare)(struct attempt *attempt);
    /* True: the message does not go to its queue's handler; the feature continues with it. */
    bool (*before_call)(struct attempt *attempt);
    /* Fills in its part of the call that is about to start. */
    void (*fill_call)(struct attempt *attempt);
    /* The call may start. True: the feature starts it together with others. */
    bool (*before_start)(struct attempt *attempt);
    /* The outcome is there. True: the feature calls evaluate_rules when it has finished. */
    bool (*before_judging)(struct attempt *attempt);
    /* Decides in place of the queue's policy, or carries out the decision in place of judge.c. */
    bool (*decide)(struct attempt *attempt, struct decision *out);
    bool (*carry_out)(struct attempt *attempt, const struct decision *decision);
    /* True: nothing is decided yet, and the feature hands the message over again. */
    bool (*sets_aside)(struct attempt *attempt, const struct decision *decision);
    /* True: the breaker does not count this outcome. */
    bool (*is_told)(struct attempt *attempt, const struct decision *decision);
    /* A hand-over has ended with this decision. */
    void (*ended)(struct attempt *attempt, const struct decision *decision);
    /* The attempt succeeded: adds further entries to its commit. */
    void (*succeeded)(struct attempt *attempt);
    /* The message becomes a letter, and its envelope says so. */
    void (*died)(struct attempt *attempt);
    /* The decision is in the envelope. */
    void (*judged)(struct attempt *attempt, const struct decision *decision);
    /* The same, for every decided attempt, also one without a hand-over. */
    void (*result)(struct attempt *attempt, enum attempt_result result);
    /* The call is over for good: a fallback handler's call or the commit follows. */
    void (*leaves)(struct attempt *attempt);
    /* The attempt is about to join a commit. True: the feature calls commit_join or commit_abandon.
     */
    bool (*in_commit)(struct attempt *attempt);
    /* The commit failed, and waiting requests are answered now. True: the feature continues with
     * the attempt, or has freed it. Otherwise … */
    bool (*refused)(struct attempt *attempt, enum status status, const struct err *err);
    /* … the attempt is submitted again, and requests are answered that it takes longer. */
    void (*postponed)(struct attempt *attempt, const struct err *err);
    /* The publication that the attempt waits for is delayed. */
    void (*delayed)(struct attempt *attempt, const struct err *err);
    /* The commit is durable. True: the attempt is not over (a lease goes on). */
    bool (*lives_on)(struct attempt *attempt);
    void (*settled)(struct attempt *attempt);
    /* True: the source message is not acknowledged. */
    bool (*keeps_source)(struct attempt *attempt);
    /* The attempt is about to be freed. */
    void (*freed)(struct attempt *attempt);

    /* ---- a queue ---- */

    void (*begin)(struct queue *queue);   /* the queue was created */
    void (*recover)(struct queue *queue); /* before the first turn */
    void (*fed)(struct queue *queue);     /* everything that may go in this turn was handed over */
    void (*resumed)(struct queue *queue); /* by a person */
    void (*hold)(struct queue *queue);    /* the engine begins to stop */
    void (*cancel)(struct queue *queue);  /* the drain is over */
    /* Writes the facts that survive a restart … */
    void (*save)(struct queue *queue, struct json_out *facts);
    /* … and reads them back */
    void (*load)(struct queue *queue, struct json facts, struct arena *arena);
    struct mono (*queue_wake)(const struct queue *queue);
    void (*forget)(struct queue *queue); /* the queue is freed: before its attempts … */
    void (*end)(struct queue *queue);    /* … and after */

    /* ---- the engine ---- */

    void (*ring)(struct engine *engine); /* a turn begins: handles timers that are due */
    /* A commit is about to be built. True: it failed for some attempts, and `err` has the reason.
     */
    bool (*before_commit)(struct engine *engine, struct err *err);
    void (*turn_ends)(struct engine *engine); /* all queues were fed */
    struct mono (*next_wake)(const struct engine *engine);
    void (*drop)(struct engine *engine); /* the engine is freed */
};

/* Ends with NULL. */
extern const struct engine_feature *const engine_features[];

/* Calls the features in turn until one returns true. */
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
