/* A sink that lives outside the server: it takes its time, refuses now and then, and keeps what it
 * has when the server dies. */
#include "world.h"

enum { REFUSES_ONE_IN = 4, TAKES_MOST_MS = 300 };

static void publish(struct sink *sink, struct sink_item *item) {
    struct world *world = CONTAINER_OF(sink, struct world, sink);
    if (world->item_count == WORLD_CALLS_MAX) {
        world_break(world, "more answers on their way than the queue's concurrency allows");
        return;
    }
    struct sim_message *message = world_message(world, item->id);
    if (!bytes_eq(item->body, bytes_of(message->id)))
        world_break(world, "%s: another one's answer is published for it", message->id);
    int64_t takes_ms = 1 + (int64_t)rng_below(&world->rng, TAKES_MOST_MS);
    world->items[world->item_count++] =
        (struct sim_item){.item = item, .ends = mono_after(world->now.mono, takes_ms)};
}

const struct sink_vtable sim_sink_vtable = {.kind = "sim", .publish = publish};

static void complete(struct world *world, size_t index) {
    struct sink_item *item = world->items[index].item;
    struct err err = {STATUS_BUSY, "the sink does not want it now"};
    bool takes = !world->faults || rng_below(&world->rng, REFUSES_ONE_IN) > 0;
    world->items[index] = world->items[--world->item_count];
    world_message(world, item->id)->published |= takes;
    item->done(item, takes ? STATUS_OK : STATUS_BUSY, takes ? NULL : &err);
}

void sim_sink_work(struct world *world) {
    for (size_t i = 0; i < world->item_count;) {
        if (world->items[i].ends.ms <= world->now.mono.ms)
            complete(world, i);
        else
            i++;
    }
}

struct mono sim_sink_next(const struct world *world) {
    struct mono next = MONO_NEVER;
    for (size_t i = 0; i < world->item_count; i++)
        next = mono_earlier(next, world->items[i].ends);
    return next;
}

void sim_sink_drop_all(struct world *world) {
    world->item_count = 0;
}
