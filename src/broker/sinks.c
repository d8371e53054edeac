#include "broker/sinks.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/random.h"
#include "broker/registry.h"

struct sinks_entry {
    struct sinks_entry *next;
    char *url;
    bool source; /* a source's URL */
    struct sink *sink;
};

enum status sinks_check(struct bytes url, struct err *err) {
    struct bytes scheme = registry_scheme(url);
    const struct broker_kind *kind = registry_of_url(url);
    if (!scheme.ptr)
        return err_set(err, STATUS_NOT_FOUND, "it is not a URL");
    if (!kind)
        return err_set(err, STATUS_NOT_YET, "%.*s:// is not in this version", BYTES_ARG(scheme));
    if (!kind->sink_check && kind->source_check)
        return err_set(err, STATUS_NOT_YET, "%.*s:// is a source only", BYTES_ARG(scheme));
    if (!kind->sink_check)
        return err_set(err, STATUS_NOT_YET, "%.*s:// is not in this build, which has no %s",
                       BYTES_ARG(scheme), kind->library);
    return kind->sink_check(url, err);
}

enum status sinks_connect(struct bytes url, struct clock *clock, struct err *err) {
    const struct broker_kind *kind = registry_of_url(url);
    struct sink_options options = {.url = url, .clock = clock};
    assert(kind && kind->sink_connect);
    *err = (struct err){STATUS_OK, ""};
    return kind->sink_connect(&options, err);
}

static struct sink *get(struct sinks *sinks, struct bytes url, bool source, struct clock *clock) {
    for (struct sinks_entry *at = sinks->first; at; at = at->next)
        if (bytes_is(url, at->url) && at->source == source)
            return at->sink;
    struct sinks_entry *entry = memory_new(sizeof *entry);
    entry->url = bytes_dup(url);
    entry->source = source;
    struct sink_options options = {
        .url = url, .source = source, .clock = clock, .seed = random_seed()};
    const struct broker_kind *kind = registry_of_url(url);
    assert(kind && kind->sink_new);
    entry->sink = kind->sink_new(&options);
    entry->next = sinks->first;
    sinks->first = entry;
    return entry->sink;
}

struct sink *sinks_get(struct sinks *sinks, struct bytes url, struct clock *clock) {
    return get(sinks, url, false, clock);
}

struct sink *sinks_back(struct sinks *sinks, struct bytes source, struct clock *clock) {
    return get(sinks, source, true, clock);
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
