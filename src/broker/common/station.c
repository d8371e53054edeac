#include "broker/common/station.h"

#include "base/thread.h"
#include "broker/common/url.h"

static struct station *self(struct broker *broker) {
    return CONTAINER_OF(broker, struct station, broker);
}

void station_init(struct station *station, const struct broker_vtable *vtable,
                  const struct station_duty *duty, struct shelf *shelf,
                  const struct broker_options *options) {
    *station = (struct station){.broker.vtable = vtable,
                                .duty = duty,
                                .clock = options->clock,
                                .shelf = shelf,
                                .wanted = true};
    arena_init_heap(&station->arena, URL_TEXT_MAX);
    if (shelf)
        shelf_init(shelf);
    contact_init_source(&station->contact, vtable->kind, options);
    bell_init(&station->bell);
}

void station_free(struct station *station) {
    atomic_store(&station->closing, true);
    bell_ring(&station->bell);
    if (station->started)
        pthread_join(station->thread, NULL);
    if (station->shelf)
        shelf_free(station->shelf);
    contact_free(&station->contact);
    bell_free(&station->bell);
    arena_free(&station->arena);
}

/* ---- the thread ---- */

static void *run(void *arg) {
    struct station *station = arg;
    while (!atomic_load(&station->closing))
        station->duty->turn(&station->broker);
    station->duty->end(&station->broker);
    return NULL;
}

void station_listen(struct broker *broker, void (*ready)(void *arg), void *arg) {
    struct station *station = self(broker);
    contact_listen(&station->contact, ready, arg);
    station->started = true;
    thread_start(&station->thread, station->duty->thread, run, station);
}

/* ---- the engine's side ---- */

void station_want(struct broker *broker, bool wanted) {
    atomic_store(&self(broker)->wanted, wanted);
    bell_ring(&self(broker)->bell);
}

void station_health(struct broker *broker, struct broker_health *out) {
    contact_health(&self(broker)->contact, out);
}

size_t station_receive(struct broker *broker, struct instant now, struct message **out,
                       size_t max) {
    return shelf_receive(self(broker)->shelf, now.mono, out, max);
}

void station_settle(struct broker *broker, struct message *held) {
    shelf_settle(self(broker)->shelf, held);
    bell_ring(&self(broker)->bell);
}

void station_hand_back(struct broker *broker, struct message *held_take, struct instant due) {
    shelf_hand_back(self(broker)->shelf, held_take, due.mono);
}

struct mono station_next_wake(struct broker *broker) {
    return shelf_next_wake(self(broker)->shelf);
}

uint64_t station_lag(struct broker *broker) {
    return atomic_load(&self(broker)->waiting) + shelf_ready(self(broker)->shelf);
}
