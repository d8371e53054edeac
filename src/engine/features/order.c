#include "engine/features/order.h"

#include <stdio.h>

#include "engine/features/tracing/tracing.h"
#include "engine/feature.h"

enum { AT_ONCE = 64, WHY_MAX = 128 };

bool order_closes_key(const struct queue *queue, const struct envelope *letter) {
    return queue->rules.order == ORDER_KEY && !queue->rules.on_dead_continue && letter->key.ptr &&
           letter->state == STATE_PENDING_REVIEW;
}

/* The message was never attempted and has no failure of its own: it goes to the DLQ of its key's
 * head. */
static void follow(struct queue *queue, struct message *held, const struct envelope *head) {
    struct attempt *attempt = attempt_new(queue, held);
    struct envelope *envelope = &held->envelope;
    char why[WHY_MAX];
    snprintf(why, sizeof why, "its key waits for letter %.*s",
             BYTES_ARG(bytes_clip(head->letter_id, 64)));
    envelope->why = arena_dup(&held->arena, bytes_of(why));
    envelope->blocked_by = BYTES_NONE; /* the store fills it in while the key is closed */
    envelope->category = arena_dup(&held->arena, head->category);
    envelope->reason = BYTES("blocked");
    envelope->instance = queue->engine->options.instance;
    judge_bury(attempt, arena_dup(&held->arena, head->dlq), CAUSE_BLOCKED, STATE_PENDING_REVIEW);
    judge_result(attempt, RESULT_DLQ);
    commit_decided(attempt);
}

static void follow_all(struct queue *queue, struct message **held, size_t count) {
    struct store *store = queue->engine->store;
    struct message *head = NULL;
    struct err err;
    enum status status =
        letters_get(store->letters, queue->name, held[0]->envelope.blocked_by, &head, &err);
    if (status != STATUS_OK) {
        log_about(LOG_WARN, QUEUE_ABOUT(queue), "the letter that closes a key cannot be read: %s",
                  err.text);
        snprintf(queue->order_trouble, sizeof queue->order_trouble, "letter %.*s: %.150s",
                 BYTES_ARG(bytes_clip(held[0]->envelope.blocked_by, 64)), err.text);
    } else {
        queue->order_trouble[0] = '\0';
    }
    for (size_t i = 0; i < count; i++) {
        if (status == STATUS_OK)
            follow(queue, held[i], &head->envelope);
        else
            store->vtable->give_back(store, held[i], queue->engine->now.mono);
    }
    message_free(head);
}

/* All messages of one call have one key. */
void order_feed(struct queue *queue) {
    struct store *store = queue->engine->store;
    struct message *held[AT_ONCE];
    if (queue->rules.order != ORDER_KEY)
        return;
    size_t count = store->vtable->take_blocked(store, queue->number, queue->rules.blocked_limit,
                                               held, AT_ONCE);
    if (count > 0)
        follow_all(queue, held, count);
}

/* ---- the feature ---- */

static void died(struct attempt *attempt) {
    struct envelope *envelope = &attempt->held->envelope;
    envelope->closes_key = order_closes_key(attempt->queue, envelope);
}

const struct engine_feature order_feature = {
    .name = "order of keys",
    .died = died,
};
