#include "app/wiring/adopt_wiring.h"

#include <stdlib.h>

#include "broker/sources.h"
#include "base/json/json_member.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/thread/thread.h"
#include "broker/registry.h"

enum { NEWS_MAX = 2048, TEXTS_CHUNK = 1024 };

struct adopt_wiring {
    struct adopt_wiring_options options;
    struct adopt_entry *entries;
    struct adopt_home *homes; /* at most one for each queue */
    size_t home_count;
    struct arena arena; /* has their texts */
    struct adopt *adopt;
    struct adopt_hand *hands; /* one for each entry */
};

/* The thread of an entry. */
struct adopt_hand {
    struct adopt *adopt;
    size_t place;
    pthread_t thread;
};

static struct broker_options broker_options(const struct adopt_wiring *wiring,
                                            const struct adopt_entry *entry) {
    return (struct broker_options){.url = entry->source,
                                   .queue = entry->name,
                                   .instance = wiring->options.consumer,
                                   .clock = &clock_system,
                                   .seed = random_seed(),
                                   .max_body = wiring->options.current->started->max_body,
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

static bool has_queue(void *arg, struct bytes name) {
    struct adopt_wiring *wiring = arg;
    return config_find_queue(wiring->options.current->started, name) != NULL;
}

/* A DLQ that a reload removed keeps its settings of the start. */
static struct adopt_dlq dlq(void *arg, struct bytes name, struct arena *arena) {
    struct config_current *current = ((struct adopt_wiring *)arg)->options.current;
    const struct engine_dlq *found = config_find_dlq(config_current_borrow(current), name);
    if (!found)
        found = config_find_dlq(current->started, name);
    struct adopt_dlq says = {.cap = found->cap, .owner = arena_dup(arena, found->owner)};
    config_current_release(current);
    return says;
}

/* Has letters evaluated again; also when none is new but their source's state has changed. */
static void news(void *arg, const struct adopt_entry *entry, uint64_t letters) {
    const struct adopt_wiring_options *options = &((struct adopt_wiring *)arg)->options;
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

static void start_hands(struct adopt_wiring *wiring) {
    size_t count = adopt_count(wiring->adopt);
    wiring->hands = memory_array(count, sizeof *wiring->hands);
    for (size_t i = 0; i < count; i++) {
        wiring->hands[i] = (struct adopt_hand){.adopt = wiring->adopt, .place = i};
        thread_start(&wiring->hands[i].thread, "adopt", run, &wiring->hands[i]);
    }
}

/* A queue with a built-in source has no broker that other systems could have named. */
static void find_homes(struct adopt_wiring *wiring, const struct config *config) {
    wiring->homes = memory_array(config->queue_count, sizeof *wiring->homes);
    for (size_t i = 0; i < config->queue_count; i++) {
        struct adopt_home home = {.kind = sources_broker(config->queues[i].source),
                                  .queue = config->queues[i].name,
                                  .server =
                                      sources_server(config->queues[i].source, &wiring->arena)};
        home.name = sources_place(config->queues[i].source, &wiring->arena, &home.member);
        if (home.kind && home.name.len > 0)
            wiring->homes[wiring->home_count++] = home;
    }
}

struct adopt_wiring *adopt_wiring_start(const struct adopt_wiring_options *options) {
    const struct config *config = options->current->started;
    if (config->adopt_count == 0)
        return NULL;
    struct adopt_wiring *wiring = memory_new(sizeof *wiring);
    wiring->options = *options;
    wiring->entries = memory_array(config->adopt_count, sizeof *wiring->entries);
    arena_init_heap(&wiring->arena, TEXTS_CHUNK);
    for (size_t i = 0; i < config->adopt_count; i++) {
        wiring->entries[i] = config->adopts[i].entry;
        wiring->entries[i].server = sources_server(wiring->entries[i].source, &wiring->arena);
    }
    find_homes(wiring, config);
    wiring->adopt = adopt_new(&(struct adopt_options){.triage = options->triage,
                                                      .brokers = registry_kinds,
                                                      .entries = wiring->entries,
                                                      .count = config->adopt_count,
                                                      .homes = wiring->homes,
                                                      .home_count = wiring->home_count,
                                                      .peek = peek,
                                                      .take = take,
                                                      .dlq = dlq,
                                                      .queue = has_queue,
                                                      .news = news,
                                                      .arg = wiring});
    start_hands(wiring);
    return wiring;
}

struct adopt *adopt_wiring_adopt(struct adopt_wiring *wiring) {
    return wiring ? wiring->adopt : NULL;
}

void adopt_wiring_stop(struct adopt_wiring *wiring) {
    if (!wiring)
        return;
    adopt_stop(wiring->adopt);
    for (size_t i = 0; i < adopt_count(wiring->adopt); i++)
        pthread_join(wiring->hands[i].thread, NULL);
}

void adopt_wiring_free(struct adopt_wiring *wiring) {
    if (!wiring)
        return;
    adopt_free(wiring->adopt);
    free(wiring->hands);
    free(wiring->entries);
    free(wiring->homes);
    arena_free(&wiring->arena);
    free(wiring);
}
