#include "app/sinks.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/random.h"
#include "broker/kafka/kafka_sink.h"
#include "broker/nats/nats_sink.h"
#include "broker/rabbitmq/rabbit_sink.h"
#include "broker/redis/redis_sink.h"

struct sinks_entry {
    struct sinks_entry *next;
    char *url;
    bool source; /* a source's URL */
    struct sink *sink;
};

#ifdef IMPOUND_REDIS
#define REDIS redis_sink_check, redis_sink_connect, redis_sink_new
#else
#define REDIS NULL, NULL, NULL
#endif

#ifdef IMPOUND_NATS
#define NATS nats_sink_check, nats_sink_connect, nats_sink_new
#else
#define NATS NULL, NULL, NULL
#endif

#ifdef IMPOUND_RABBITMQ
#define RABBITMQ rabbit_sink_check, rabbit_sink_connect, rabbit_sink_new
#else
#define RABBITMQ NULL, NULL, NULL
#endif

#ifdef IMPOUND_KAFKA
#define KAFKA kafka_sink_check, kafka_sink_connect, kafka_sink_new
#else
#define KAFKA NULL, NULL, NULL
#endif

/* An adapter is known by up to two schemes, the second one with TLS. One that this build leaves out
 * has no functions. */
static const struct sinks_kind {
    const char *schemes[2];
    const char *library;
    enum status (*check)(struct bytes url, struct err *err);
    enum status (*connect)(const struct sink_options *options, struct err *err);
    struct sink *(*make)(const struct sink_options *options);
} kinds[] = {
    {{"redis", "rediss"}, "hiredis", REDIS},
    {{"amqp", "amqps"}, "librabbitmq", RABBITMQ},
    {{"kafka", "kafkas"}, "librdkafka", KAFKA},
    {{"nats", "tls"}, "libnats", NATS},
};

static const struct sinks_kind *find(struct bytes url) {
    struct bytes scheme = bytes_cut(url, 0, bytes_find(url, BYTES("://")));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (size_t j = 0; j < 2; j++)
            if (kinds[i].schemes[j] && bytes_is(scheme, kinds[i].schemes[j]))
                return &kinds[i];
    return NULL;
}

enum status sinks_check(struct bytes url, struct err *err) {
    size_t scheme = bytes_find(url, BYTES("://"));
    const struct sinks_kind *kind = find(url);
    if (scheme == url.len)
        return err_set(err, STATUS_NOT_FOUND, "it is not a URL");
    if (!kind)
        return err_set(err, STATUS_NOT_YET, "%.*s:// is not in this version",
                       BYTES_ARG(bytes_cut(url, 0, scheme)));
    if (!kind->check)
        return err_set(err, STATUS_NOT_YET, "%.*s:// is not in this build, which has no %s",
                       BYTES_ARG(bytes_cut(url, 0, scheme)), kind->library);
    return kind->check(url, err);
}

enum status sinks_connect(struct bytes url, struct clock *clock, struct err *err) {
    const struct sinks_kind *kind = find(url);
    struct sink_options options = {.url = url, .clock = clock};
    assert(kind && kind->connect);
    *err = (struct err){STATUS_OK, ""};
    return kind->connect(&options, err);
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
    const struct sinks_kind *kind = find(url);
    assert(kind && kind->make);
    entry->sink = kind->make(&options);
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
