#include "app/adopt_plant.h"

#include <stdlib.h>

#include "config/config_find.h"
#include "broker/sources.h"
#include "base/json_member.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/thread.h"
#include "broker/registry.h"

enum { NEWS_MAX = 2048, TEXTS_CHUNK = 1024 };

struct adopt_plant {
    struct adopt_plant_options options;
    struct adopt_entry *entries;
    struct adopt_home *homes; /* at most one for each queue */
    size_t home_count;
    struct arena arena; /* of their texts */
    struct adopt *adopt;
    struct adopt_hand *hands; /* one for each entry */
};

/* Who carries an entry out. */
struct adopt_hand {
    struct adopt *adopt;
    size_t place;
    pthread_t thread;
};

static struct broker_options broker_options(const struct adopt_plant *plant,
                                            const struct adopt_entry *entry) {
    return (struct broker_options){.url = entry->source,
                                   .queue = entry->name,
                                   .instance = plant->options.consumer,
                                   .clock = &clock_system,
                                   .seed = random_seed(),
                                   .max_body = plant->options.current->started->max_body,
                                   .quiet = true};
}

static struct peek *peek(void *arg, const struct adopt_entry *entry) {
    struct broker_options options = broker_options(arg, entry);
    return sources_peek(&options);
}

static struct broker *take(void *arg, const struct adopt_entry *entry) {
    struct broker_options options = broker_options(arg, entry);
    return sources_new(&options);
}

/* A DLQ that a reload took away stays as it was. */
static bool has_queue(void *arg, struct bytes name) {
    struct adopt_plant *plant = arg;
    return config_find_queue(plant->options.current->started, name) != NULL;
}

static struct adopt_dlq dlq(void *arg, struct bytes name, struct arena *arena) {
    struct config_current *current = ((struct adopt_plant *)arg)->options.current;
    const struct engine_dlq *found = config_find_dlq(config_current_borrow(current), name);
    if (!found)
        found = config_find_dlq(current->started, name);
    struct adopt_dlq says = {.cap = found->cap, .owner = arena_dup(arena, found->owner)};
    config_current_release(current);
    return says;
}

/* Whoever watches letters looks again; also where none is new, but their place is in another state.
 */
static void news(void *arg, const struct adopt_entry *entry, uint64_t letters) {
    const struct adopt_plant_options *options = &((struct adopt_plant *)arg)->options;
    char memory[NEWS_MAX];
    struct buf text;
    buf_init_fixed(&text, memory, sizeof memory);
    struct json_out json = json_out(&text);
    json_open(&json, '{');
    json_member_text(&json, "type", BYTES("letter"));
    json_member_time(&json, "at", triage_now(options->triage).wall);
    json_member_text(&json, "adopt", entry->name);
    json_member_text(&json, "dlq", entry->dlq);
    json_member_number(&json, "letters", letters);
    json_close(&json, '}');
    options->publish(options->arg, &(struct engine_event){"letter", buf_view(&text), NULL});
}

static void *run(void *arg) {
    const struct adopt_hand *hand = arg;
    adopt_run(hand->adopt, hand->place);
    return NULL;
}

static void start_hands(struct adopt_plant *plant) {
    size_t count = adopt_count(plant->adopt);
    plant->hands = memory_array(count, sizeof *plant->hands);
    for (size_t i = 0; i < count; i++) {
        plant->hands[i] = (struct adopt_hand){.adopt = plant->adopt, .place = i};
        thread_start(&plant->hands[i].thread, "adopt", run, &plant->hands[i]);
    }
}

/* A queue whose source is built in has no place that others could have written of. */
static void find_homes(struct adopt_plant *plant, const struct config *config) {
    plant->homes = memory_array(config->queue_count, sizeof *plant->homes);
    for (size_t i = 0; i < config->queue_count; i++) {
        struct adopt_home home = {.kind = sources_broker(config->queues[i].source),
                                  .queue = config->queues[i].name,
                                  .server =
                                      sources_server(config->queues[i].source, &plant->arena)};
        home.name = sources_place(config->queues[i].source, &plant->arena, &home.member);
        if (home.kind && home.name.len > 0)
            plant->homes[plant->home_count++] = home;
    }
}

struct adopt_plant *adopt_plant_start(const struct adopt_plant_options *options) {
    const struct config *config = options->current->started;
    if (config->adopt_count == 0)
        return NULL;
    struct adopt_plant *plant = memory_new(sizeof *plant);
    plant->options = *options;
    plant->entries = memory_array(config->adopt_count, sizeof *plant->entries);
    arena_init_heap(&plant->arena, TEXTS_CHUNK);
    for (size_t i = 0; i < config->adopt_count; i++) {
        plant->entries[i] = config->adopts[i].entry;
        plant->entries[i].server = sources_server(plant->entries[i].source, &plant->arena);
    }
    find_homes(plant, config);
    plant->adopt = adopt_new(&(struct adopt_options){.triage = options->triage,
                                                     .brokers = registry_kinds,
                                                     .entries = plant->entries,
                                                     .count = config->adopt_count,
                                                     .homes = plant->homes,
                                                     .home_count = plant->home_count,
                                                     .peek = peek,
                                                     .take = take,
                                                     .dlq = dlq,
                                                     .queue = has_queue,
                                                     .news = news,
                                                     .arg = plant});
    start_hands(plant);
    return plant;
}

struct adopt *adopt_plant_adopt(struct adopt_plant *plant) {
    return plant ? plant->adopt : NULL;
}

void adopt_plant_stop(struct adopt_plant *plant) {
    if (!plant)
        return;
    adopt_stop(plant->adopt);
    for (size_t i = 0; i < adopt_count(plant->adopt); i++)
        pthread_join(plant->hands[i].thread, NULL);
}

void adopt_plant_free(struct adopt_plant *plant) {
    if (!plant)
        return;
    adopt_free(plant->adopt);
    free(plant->hands);
    free(plant->entries);
    free(plant->homes);
    arena_free(&plant->arena);
    free(plant);
}
