#include "broker/common/shelf.h"

#include <assert.h>

#include "base/memory.h"

static struct parcel *of_link(struct list *link) {
    return CONTAINER_OF(link, struct parcel, link);
}

struct parcel *parcel_new(struct message *held_take) {
    struct parcel *parcel = memory_new(sizeof *parcel);
    list_init(&parcel->link);
    parcel->held = held_take;
    parcel->id = (struct bytes){bytes_dup(held_take->envelope.id), held_take->envelope.id.len};
    parcel->print = bytes_print(held_take->body);
    held_take->source = parcel;
    return parcel;
}

void parcel_free(struct parcel *parcel) {
    if (parcel->place != PARCEL_OUT)
        message_free(parcel->held);
    free((char *)parcel->id.ptr);
    free(parcel->reply);
    free(parcel);
}

void shelf_init(struct shelf *shelf) {
    *shelf = (struct shelf){0};
    pthread_mutex_init(&shelf->mutex, NULL);
    for (size_t i = 0; i < PARCEL_PLACES; i++)
        list_init(&shelf->places[i]);
}

void shelf_free(struct shelf *shelf) {
    for (size_t i = 0; i < PARCEL_PLACES; i++)
        for (struct list *link; (link = list_pop_front(&shelf->places[i]));)
            parcel_free(of_link(link));
    map_free(&shelf->by_id);
    pthread_mutex_destroy(&shelf->mutex);
}

/* ---- with the lock held ---- */

static void count(struct shelf *shelf, enum parcel_place place, int change) {
    if (place == PARCEL_READY)
        shelf->ready += (size_t)change;
    if (place == PARCEL_LOST)
        shelf->lost += (size_t)change;
}

static void enter(struct shelf *shelf, struct parcel *parcel, enum parcel_place place) {
    parcel->place = place;
    list_push_back(&shelf->places[place], &parcel->link);
    count(shelf, place, 1);
}

static void leave(struct shelf *shelf, struct parcel *parcel) {
    list_remove(&parcel->link);
    count(shelf, parcel->place, -1);
}

static void move(struct shelf *shelf, struct parcel *parcel, enum parcel_place place) {
    leave(shelf, parcel);
    enter(shelf, parcel, place);
}

static void take_out(struct shelf *shelf, struct parcel *parcel) {
    leave(shelf, parcel);
    map_remove(&shelf->by_id, &parcel->by_id);
    shelf->count--;
}

static void drop(struct shelf *shelf, struct parcel *parcel) {
    take_out(shelf, parcel);
    parcel_free(parcel);
}

static struct parcel *find_known(struct shelf *shelf, const struct parcel *like, bool whatever) {
    uint64_t hash = bytes_hash(like->id);
    for (struct map_node *node = map_first(&shelf->by_id, hash); node; node = map_next(node)) {
        struct parcel *parcel = CONTAINER_OF(node, struct parcel, by_id);
        if ((whatever || parcel->stale) && parcel->print == like->print &&
            bytes_eq(parcel->id, like->id))
            return parcel;
    }
    return NULL;
}

/* One that was acknowledged and comes again was not heard of: it is to be told again. */
static void know_again(struct shelf *shelf, struct parcel *known, struct parcel *again) {
    char *reply = known->reply;
    known->tag = again->tag;
    known->reply = again->reply;
    again->reply = reply;
    known->stale = false;
    if (known->place == PARCEL_SENT || known->place == PARCEL_LOST)
        move(shelf, known, PARCEL_DONE);
}

static void forget_tag(struct shelf *shelf, struct parcel *parcel) {
    bool comes_anew = parcel->place == PARCEL_READY && (!parcel->handed_back || parcel->stale);
    if (comes_anew) {
        drop(shelf, parcel);
        return;
    }
    parcel->stale = true;
    if (parcel->place == PARCEL_DONE || parcel->place == PARCEL_SENT)
        move(shelf, parcel, PARCEL_LOST);
}

/* ---- the engine's side ---- */

size_t shelf_receive(struct shelf *shelf, struct mono now, struct message **out, size_t max) {
    size_t count = 0;
    pthread_mutex_lock(&shelf->mutex);
    LIST_EACH_SAFE(link, &shelf->places[PARCEL_READY]) {
        struct parcel *parcel = of_link(link);
        if (count == max)
            break;
        if (parcel->stale || parcel->due.ms > now.ms)
            continue;
        move(shelf, parcel, PARCEL_OUT);
        out[count++] = parcel->held;
    }
    pthread_mutex_unlock(&shelf->mutex);
    return count;
}

void shelf_settle(struct shelf *shelf, struct message *held) {
    struct parcel *parcel = held->source;
    pthread_mutex_lock(&shelf->mutex);
    assert(parcel->place == PARCEL_OUT && parcel->held == held);
    parcel->held = NULL;
    parcel->letter = held->envelope.state == STATE_PENDING_REVIEW && !parcel->unannounced;
    move(shelf, parcel, parcel->stale ? PARCEL_LOST : PARCEL_DONE);
    pthread_mutex_unlock(&shelf->mutex);
}

void shelf_hand_back(struct shelf *shelf, struct message *held_take, struct mono due) {
    struct parcel *parcel = held_take->source;
    pthread_mutex_lock(&shelf->mutex);
    assert(parcel->place == PARCEL_OUT && parcel->held == held_take);
    parcel->due = due;
    parcel->handed_back = true;
    move(shelf, parcel, PARCEL_READY);
    pthread_mutex_unlock(&shelf->mutex);
}

struct mono shelf_next_wake(struct shelf *shelf) {
    struct mono next = MONO_NEVER;
    pthread_mutex_lock(&shelf->mutex);
    LIST_EACH(link, &shelf->places[PARCEL_READY]) {
        if (!of_link(link)->stale)
            next = mono_earlier(next, of_link(link)->due);
        if (next.ms == 0)
            break;
    }
    pthread_mutex_unlock(&shelf->mutex);
    return next;
}

size_t shelf_ready(struct shelf *shelf) {
    pthread_mutex_lock(&shelf->mutex);
    size_t ready = shelf->ready;
    pthread_mutex_unlock(&shelf->mutex);
    return ready;
}

/* ---- the adapter's side ---- */

size_t shelf_count(struct shelf *shelf) {
    pthread_mutex_lock(&shelf->mutex);
    size_t count = shelf->count;
    pthread_mutex_unlock(&shelf->mutex);
    return count;
}

bool shelf_put(struct shelf *shelf, struct parcel *parcel_take, bool again, bool whatever) {
    pthread_mutex_lock(&shelf->mutex);
    struct parcel *known = again ? find_known(shelf, parcel_take, whatever) : NULL;
    if (known) {
        know_again(shelf, known, parcel_take);
    } else {
        map_insert(&shelf->by_id, &parcel_take->by_id, bytes_hash(parcel_take->id));
        enter(shelf, parcel_take, PARCEL_READY);
        shelf->count++;
    }
    pthread_mutex_unlock(&shelf->mutex);
    if (known)
        parcel_free(parcel_take);
    return !known;
}

bool shelf_send(struct shelf *shelf, struct parcel_word *out) {
    pthread_mutex_lock(&shelf->mutex);
    bool any = !list_empty(&shelf->places[PARCEL_DONE]);
    if (any) {
        struct parcel *first = of_link(shelf->places[PARCEL_DONE].next);
        char *reply = first->reply ? bytes_dup(bytes_of(first->reply)) : NULL;
        *out = (struct parcel_word){first->tag, reply, first->letter};
        move(shelf, first, PARCEL_SENT);
    }
    pthread_mutex_unlock(&shelf->mutex);
    return any;
}

/* With the lock held. */
static uint64_t least_open_tag(struct shelf *shelf) {
    uint64_t least = UINT64_MAX;
    for (size_t place = PARCEL_READY; place <= PARCEL_OUT; place++) {
        LIST_EACH(link, &shelf->places[place])
        if (!of_link(link)->stale && of_link(link)->tag < least)
            least = of_link(link)->tag;
    }
    return least;
}

uint64_t shelf_send_up_to(struct shelf *shelf) {
    uint64_t greatest = 0;
    pthread_mutex_lock(&shelf->mutex);
    bool looks = !list_empty(&shelf->places[PARCEL_DONE]) && shelf->count <= SHELF_RUN_MAX;
    uint64_t open = looks ? least_open_tag(shelf) : 0;
    LIST_EACH_SAFE(link, &shelf->places[PARCEL_DONE]) {
        struct parcel *parcel = of_link(link);
        if (parcel->tag >= open)
            continue;
        greatest = parcel->tag > greatest ? parcel->tag : greatest;
        move(shelf, parcel, PARCEL_SENT);
    }
    pthread_mutex_unlock(&shelf->mutex);
    return greatest;
}

void shelf_heard(struct shelf *shelf) {
    pthread_mutex_lock(&shelf->mutex);
    while (!list_empty(&shelf->places[PARCEL_SENT]))
        drop(shelf, of_link(shelf->places[PARCEL_SENT].next));
    pthread_mutex_unlock(&shelf->mutex);
}

void shelf_forget_lost(struct shelf *shelf) {
    pthread_mutex_lock(&shelf->mutex);
    while (!list_empty(&shelf->places[PARCEL_LOST]))
        drop(shelf, of_link(shelf->places[PARCEL_LOST].next));
    pthread_mutex_unlock(&shelf->mutex);
}

void shelf_unheard(struct shelf *shelf) {
    pthread_mutex_lock(&shelf->mutex);
    while (!list_empty(&shelf->places[PARCEL_SENT]))
        move(shelf, of_link(shelf->places[PARCEL_SENT].next), PARCEL_DONE);
    pthread_mutex_unlock(&shelf->mutex);
}

struct parcel *shelf_return(struct shelf *shelf, bool all) {
    struct parcel *found = NULL;
    pthread_mutex_lock(&shelf->mutex);
    struct list *head = &shelf->places[PARCEL_READY];
    for (struct list *link = head->prev; link != head && !found; link = link->prev) {
        struct parcel *parcel = of_link(link);
        if (!parcel->stale && (all || (!parcel->keep && !parcel->handed_back)))
            found = parcel;
    }
    if (found)
        take_out(shelf, found);
    pthread_mutex_unlock(&shelf->mutex);
    return found;
}

size_t shelf_forget_tags(struct shelf *shelf) {
    pthread_mutex_lock(&shelf->mutex);
    size_t before = shelf->ready;
    for (size_t place = 0; place < PARCEL_LOST; place++)
        LIST_EACH_SAFE(link, &shelf->places[place])
    forget_tag(shelf, of_link(link));
    size_t dropped = before - shelf->ready;
    while (shelf->lost > SHELF_LOST_MAX)
        drop(shelf, of_link(shelf->places[PARCEL_LOST].next));
    pthread_mutex_unlock(&shelf->mutex);
    return dropped;
}

void shelf_each_open(struct shelf *shelf, void (*visit)(const struct parcel *parcel, void *arg),
                     void *arg) {
    pthread_mutex_lock(&shelf->mutex);
    for (size_t place = PARCEL_READY; place <= PARCEL_OUT; place++)
        LIST_EACH(link, &shelf->places[place])
    visit(of_link(link), arg);
    pthread_mutex_unlock(&shelf->mutex);
}
