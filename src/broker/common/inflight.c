#include "broker/common/inflight.h"

#include <assert.h>

#include "base/memory.h"

static struct delivery *of_link(struct list *link) {
    return CONTAINER_OF(link, struct delivery, link);
}

struct delivery *delivery_new(struct message *held_take) {
    struct delivery *delivery = memory_new(sizeof *delivery);
    list_init(&delivery->link);
    delivery->held = held_take;
    delivery->id = (struct bytes){bytes_dup(held_take->envelope.id), held_take->envelope.id.len};
    delivery->print = bytes_print(held_take->body);
    held_take->source = delivery;
    return delivery;
}

void delivery_free(struct delivery *delivery) {
    if (delivery->state != DELIVERY_OUT)
        message_free(delivery->held);
    free((char *)delivery->id.ptr);
    free(delivery->reply);
    free(delivery);
}

void inflight_init(struct inflight *inflight) {
    *inflight = (struct inflight){0};
    pthread_mutex_init(&inflight->mutex, NULL);
    for (size_t i = 0; i < DELIVERY_STATES; i++)
        list_init(&inflight->states[i]);
}

void inflight_free(struct inflight *inflight) {
    for (size_t i = 0; i < DELIVERY_STATES; i++)
        for (struct list *link; (link = list_pop_front(&inflight->states[i]));)
            delivery_free(of_link(link));
    map_free(&inflight->by_id);
    pthread_mutex_destroy(&inflight->mutex);
}

/* ---- with the lock held ---- */

static void count(struct inflight *inflight, enum delivery_state state, int change) {
    if (state == DELIVERY_READY)
        inflight->ready += (size_t)change;
    if (state == DELIVERY_LOST)
        inflight->lost += (size_t)change;
}

static void enter(struct inflight *inflight, struct delivery *delivery, enum delivery_state state) {
    delivery->state = state;
    list_push_back(&inflight->states[state], &delivery->link);
    count(inflight, state, 1);
}

static void leave(struct inflight *inflight, struct delivery *delivery) {
    list_remove(&delivery->link);
    count(inflight, delivery->state, -1);
}

static void move(struct inflight *inflight, struct delivery *delivery, enum delivery_state state) {
    leave(inflight, delivery);
    enter(inflight, delivery, state);
}

static void take_out(struct inflight *inflight, struct delivery *delivery) {
    leave(inflight, delivery);
    map_remove(&inflight->by_id, &delivery->by_id);
    inflight->count--;
}

static void drop(struct inflight *inflight, struct delivery *delivery) {
    take_out(inflight, delivery);
    delivery_free(delivery);
}

static struct delivery *find_known(struct inflight *inflight, const struct delivery *like,
                                   bool whatever) {
    uint64_t hash = bytes_hash(like->id);
    for (struct map_node *node = map_first(&inflight->by_id, hash); node; node = map_next(node)) {
        struct delivery *delivery = CONTAINER_OF(node, struct delivery, by_id);
        if ((whatever || delivery->stale) && delivery->print == like->print &&
            bytes_eq(delivery->id, like->id))
            return delivery;
    }
    return NULL;
}

/* A redelivery of what was acknowledged: the server did not get that, so it is sent again. */
static void know_again(struct inflight *inflight, struct delivery *known, struct delivery *again) {
    char *reply = known->reply;
    known->tag = again->tag;
    known->reply = again->reply;
    again->reply = reply;
    known->stale = false;
    if (known->state == DELIVERY_SENT || known->state == DELIVERY_LOST)
        move(inflight, known, DELIVERY_DONE);
}

static void forget_tag(struct inflight *inflight, struct delivery *delivery) {
    bool comes_anew =
        delivery->state == DELIVERY_READY && (!delivery->handed_back || delivery->stale);
    if (comes_anew) {
        drop(inflight, delivery);
        return;
    }
    delivery->stale = true;
    if (delivery->state == DELIVERY_DONE || delivery->state == DELIVERY_SENT)
        move(inflight, delivery, DELIVERY_LOST);
}

/* ---- the engine's side ---- */

size_t inflight_receive(struct inflight *inflight, struct mono now, struct message **out,
                        size_t max) {
    size_t count = 0;
    pthread_mutex_lock(&inflight->mutex);
    LIST_EACH_SAFE(link, &inflight->states[DELIVERY_READY]) {
        struct delivery *delivery = of_link(link);
        if (count == max)
            break;
        if (delivery->stale || delivery->due.ms > now.ms)
            continue;
        move(inflight, delivery, DELIVERY_OUT);
        out[count++] = delivery->held;
    }
    pthread_mutex_unlock(&inflight->mutex);
    return count;
}

void inflight_settle(struct inflight *inflight, struct message *held) {
    struct delivery *delivery = held->source;
    pthread_mutex_lock(&inflight->mutex);
    assert(delivery->state == DELIVERY_OUT && delivery->held == held);
    delivery->held = NULL;
    delivery->letter = held->envelope.state == STATE_PENDING_REVIEW && !delivery->unannounced;
    move(inflight, delivery, delivery->stale ? DELIVERY_LOST : DELIVERY_DONE);
    pthread_mutex_unlock(&inflight->mutex);
}

void inflight_hand_back(struct inflight *inflight, struct message *held_take, struct mono due) {
    struct delivery *delivery = held_take->source;
    pthread_mutex_lock(&inflight->mutex);
    assert(delivery->state == DELIVERY_OUT && delivery->held == held_take);
    delivery->due = due;
    delivery->handed_back = true;
    move(inflight, delivery, DELIVERY_READY);
    pthread_mutex_unlock(&inflight->mutex);
}

struct mono inflight_next_wake(struct inflight *inflight) {
    struct mono next = MONO_NEVER;
    pthread_mutex_lock(&inflight->mutex);
    LIST_EACH(link, &inflight->states[DELIVERY_READY]) {
        if (!of_link(link)->stale)
            next = mono_earlier(next, of_link(link)->due);
        if (next.ms == 0)
            break;
    }
    pthread_mutex_unlock(&inflight->mutex);
    return next;
}

size_t inflight_ready(struct inflight *inflight) {
    pthread_mutex_lock(&inflight->mutex);
    size_t ready = inflight->ready;
    pthread_mutex_unlock(&inflight->mutex);
    return ready;
}

/* ---- the adapter's side ---- */

size_t inflight_count(struct inflight *inflight) {
    pthread_mutex_lock(&inflight->mutex);
    size_t count = inflight->count;
    pthread_mutex_unlock(&inflight->mutex);
    return count;
}

bool inflight_put(struct inflight *inflight, struct delivery *delivery_take, bool again,
                  bool whatever) {
    pthread_mutex_lock(&inflight->mutex);
    struct delivery *known = again ? find_known(inflight, delivery_take, whatever) : NULL;
    if (known) {
        know_again(inflight, known, delivery_take);
    } else {
        map_insert(&inflight->by_id, &delivery_take->by_id, bytes_hash(delivery_take->id));
        enter(inflight, delivery_take, DELIVERY_READY);
        inflight->count++;
    }
    pthread_mutex_unlock(&inflight->mutex);
    if (known)
        delivery_free(delivery_take);
    return !known;
}

bool inflight_send(struct inflight *inflight, struct delivery_ack *out) {
    pthread_mutex_lock(&inflight->mutex);
    bool any = !list_empty(&inflight->states[DELIVERY_DONE]);
    if (any) {
        struct delivery *first = of_link(inflight->states[DELIVERY_DONE].next);
        char *reply = first->reply ? bytes_dup(bytes_of(first->reply)) : NULL;
        *out = (struct delivery_ack){first->tag, reply, first->letter};
        move(inflight, first, DELIVERY_SENT);
    }
    pthread_mutex_unlock(&inflight->mutex);
    return any;
}

/* With the lock held. */
static uint64_t least_open_tag(struct inflight *inflight) {
    uint64_t least = UINT64_MAX;
    for (size_t state = DELIVERY_READY; state <= DELIVERY_OUT; state++) {
        LIST_EACH(link, &inflight->states[state])
        if (!of_link(link)->stale && of_link(link)->tag < least)
            least = of_link(link)->tag;
    }
    return least;
}

uint64_t inflight_send_up_to(struct inflight *inflight) {
    uint64_t greatest = 0;
    pthread_mutex_lock(&inflight->mutex);
    bool looks =
        !list_empty(&inflight->states[DELIVERY_DONE]) && inflight->count <= INFLIGHT_RUN_MAX;
    uint64_t open = looks ? least_open_tag(inflight) : 0;
    LIST_EACH_SAFE(link, &inflight->states[DELIVERY_DONE]) {
        struct delivery *delivery = of_link(link);
        if (delivery->tag >= open)
            continue;
        greatest = delivery->tag > greatest ? delivery->tag : greatest;
        move(inflight, delivery, DELIVERY_SENT);
    }
    pthread_mutex_unlock(&inflight->mutex);
    return greatest;
}

void inflight_acknowledged(struct inflight *inflight) {
    pthread_mutex_lock(&inflight->mutex);
    while (!list_empty(&inflight->states[DELIVERY_SENT]))
        drop(inflight, of_link(inflight->states[DELIVERY_SENT].next));
    pthread_mutex_unlock(&inflight->mutex);
}

void inflight_forget_lost(struct inflight *inflight) {
    pthread_mutex_lock(&inflight->mutex);
    while (!list_empty(&inflight->states[DELIVERY_LOST]))
        drop(inflight, of_link(inflight->states[DELIVERY_LOST].next));
    pthread_mutex_unlock(&inflight->mutex);
}

void inflight_send_again(struct inflight *inflight) {
    pthread_mutex_lock(&inflight->mutex);
    while (!list_empty(&inflight->states[DELIVERY_SENT]))
        move(inflight, of_link(inflight->states[DELIVERY_SENT].next), DELIVERY_DONE);
    pthread_mutex_unlock(&inflight->mutex);
}

struct delivery *inflight_return(struct inflight *inflight, bool all) {
    struct delivery *found = NULL;
    pthread_mutex_lock(&inflight->mutex);
    struct list *head = &inflight->states[DELIVERY_READY];
    for (struct list *link = head->prev; link != head && !found; link = link->prev) {
        struct delivery *delivery = of_link(link);
        if (!delivery->stale && (all || (!delivery->keep && !delivery->handed_back)))
            found = delivery;
    }
    if (found)
        take_out(inflight, found);
    pthread_mutex_unlock(&inflight->mutex);
    return found;
}

size_t inflight_forget_tags(struct inflight *inflight) {
    pthread_mutex_lock(&inflight->mutex);
    size_t before = inflight->ready;
    for (size_t state = 0; state < DELIVERY_LOST; state++)
        LIST_EACH_SAFE(link, &inflight->states[state])
    forget_tag(inflight, of_link(link));
    size_t dropped = before - inflight->ready;
    while (inflight->lost > INFLIGHT_LOST_MAX)
        drop(inflight, of_link(inflight->states[DELIVERY_LOST].next));
    pthread_mutex_unlock(&inflight->mutex);
    return dropped;
}

void inflight_each_open(struct inflight *inflight,
                        void (*visit)(const struct delivery *delivery, void *arg), void *arg) {
    pthread_mutex_lock(&inflight->mutex);
    for (size_t state = DELIVERY_READY; state <= DELIVERY_OUT; state++)
        LIST_EACH(link, &inflight->states[state])
    visit(of_link(link), arg);
    pthread_mutex_unlock(&inflight->mutex);
}
