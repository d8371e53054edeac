#include "app/sinks.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "broker/redis_sink.h"

struct sinks_entry {
    struct sinks_entry *next;
    char *url;
    struct sink *sink;
};

#ifdef IMPOUND_REDIS
static struct sink *make(struct bytes url, struct clock *clock) {
    struct redis_url redis;
    struct arena arena;
    arena_init_heap(&arena, 512);
    enum status status = redis_url_sink(url, &arena, &redis, NULL);
    assert(status == STATUS_OK);
    (void)status;
    struct sink *sink = redis_sink_new(&redis, clock);
    arena_free(&arena);
    return sink;
}
#else
/* The configuration refuses every URL. */
static struct sink *make(struct bytes url, struct clock *clock) {
    (void)url, (void)clock;
    abort();
}
#endif

struct sink *sinks_get(struct sinks *sinks, struct bytes url, struct clock *clock) {
    for (struct sinks_entry *at = sinks->first; at; at = at->next)
        if (bytes_is(url, at->url))
            return at->sink;
    struct sinks_entry *entry = memory_new(sizeof *entry);
    entry->url = bytes_dup(url);
    entry->sink = make(url, clock);
    entry->next = sinks->first;
    sinks->first = entry;
    return entry->sink;
}

void sinks_free(struct sinks *sinks) {
    for (struct sinks_entry *at = sinks->first, *next; at; at = next) {
        next = at->next;
        at->sink->vtable->free(at->sink);
        free(at->url);
        free(at);
    }
    sinks->first = NULL;
}
