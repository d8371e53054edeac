#include "app/sources.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mailbox.h"
#include "base/suggest.h"
#include "broker/kafka/kafka_peek.h"
#include "broker/kafka/kafka_source.h"
#include "broker/kafka/kafka_url.h"
#include "broker/nats/nats_peek.h"
#include "broker/nats/nats_source.h"
#include "broker/nats/nats_url.h"
#include "broker/rabbitmq/rabbit_peek.h"
#include "broker/rabbitmq/rabbit_source.h"
#include "broker/redis/redis_peek.h"
#include "broker/redis/redis_source.h"
#include "broker/redis/redis_url.h"

#ifdef IMPOUND_REDIS
#define REDIS redis_source_check, redis_url_check_peek, redis_source_new, redis_peek_new
#else
#define REDIS NULL, NULL, NULL, NULL
#endif

#ifdef IMPOUND_NATS
#define NATS nats_source_check, nats_url_check_peek, nats_source_new, nats_peek_new
#else
#define NATS NULL, NULL, NULL, NULL
#endif

#ifdef IMPOUND_RABBITMQ
#define RABBITMQ rabbit_source_check, rabbit_source_check, rabbit_source_new, rabbit_peek_new
#else
#define RABBITMQ NULL, NULL, NULL, NULL
#endif

#ifdef IMPOUND_KAFKA
#define KAFKA kafka_source_check, kafka_url_check_peek, kafka_source_new, kafka_peek_new
#else
#define KAFKA NULL, NULL, NULL, NULL
#endif

/* An adapter is known by up to two schemes, the second one with TLS. One that this build leaves out
 * has no functions. */
static const struct sources_kind {
    const char *schemes[2];
    const char *broker;
    const char *library;
    const char *path; /* what an empty one means; NULL: nothing else */
    enum status (*check)(struct bytes url, struct err *err);
    enum status (*check_peek)(struct bytes url, struct err *err); /* … if it is only looked at */
    struct broker *(*make)(const struct broker_options *options);
    struct peek *(*peek)(const struct broker_options *options); /* NULL: it cannot */
} kinds[] = {
    {{"redis", "rediss"}, "redis", "hiredis", "0", REDIS},
    {{"amqp", "amqps"}, "rabbitmq", "librabbitmq", "/", RABBITMQ},
    {{"nats", "tls"}, "nats", "libnats", NULL, NATS},
    {{"kafka", "kafkas"}, "kafka", "librdkafka", NULL, KAFKA},
    {{"sqs", NULL}, "sqs", NULL, NULL, NULL, NULL, NULL, NULL},
    {{"pubsub", NULL}, "pubsub", NULL, NULL, NULL, NULL, NULL, NULL},
};

static const struct sources_kind *find(struct bytes scheme) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (size_t j = 0; j < 2; j++)
            if (kinds[i].schemes[j] && bytes_is(scheme, kinds[i].schemes[j]))
                return &kinds[i];
    return NULL;
}

static struct bytes scheme_of(struct bytes source) {
    size_t end = bytes_find(source, BYTES("://"));
    return end < source.len ? bytes_cut(source, 0, end) : BYTES_NONE;
}

static enum status unknown(struct bytes scheme, struct err *err) {
    struct suggest suggest = suggest_for(scheme);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (size_t j = 0; j < 2; j++)
            if (kinds[i].schemes[j])
                suggest_try(&suggest, bytes_of(kinds[i].schemes[j]));
    if (scheme.len == 0 || suggest.best.len == 0)
        return err_set(err, STATUS_NOT_FOUND, "it is not the URL of a broker");
    return err_set(err, STATUS_INVALID, "there is no %.*s://; did you mean %.*s://?",
                   BYTES_ARG(scheme), BYTES_ARG(suggest.best));
}

static enum status check(struct bytes source, bool peek, struct err *err) {
    struct bytes scheme = scheme_of(source);
    const struct sources_kind *kind = find(scheme);
    if (bytes_is(source, SOURCES_BUILTIN))
        return STATUS_OK;
    if (!kind)
        return unknown(scheme, err);
    if (kind->check)
        return (peek ? kind->check_peek : kind->check)(source, err);
    if (kind->library)
        return err_set(err, STATUS_NOT_YET, "source %.*s:// is not in this build, which has no %s",
                       BYTES_ARG(scheme), kind->library);
    return err_set(err, STATUS_NOT_YET, "source %.*s:// is not in this version", BYTES_ARG(scheme));
}

enum status sources_check(struct bytes source, struct err *err) {
    return check(source, false, err);
}

enum status sources_check_peek(struct bytes source, struct err *err) {
    return check(source, true, err);
}

struct bytes sources_group(struct bytes source, struct arena *arena) {
    struct kafka_url url;
    struct err err;
    return kafka_url_source(source, arena, &url, &err) == STATUS_OK ? url.group : BYTES_NONE;
}

/* The parameter that names the place, as a member of an envelope's source; NULL: the path does. */
static const char *place_member(const struct url *url, struct bytes *name) {
    static const char *const members[] = {"queue", "list", "stream", "zset", "asynq"};
    for (size_t i = 0; i < url->parameter_count; i++)
        for (size_t k = 0; k < sizeof members / sizeof *members; k++)
            if (bytes_is(url->parameters[i].name, members[k])) {
                *name = url->parameters[i].value;
                return members[k];
            }
    *name = url->path;
    return NULL;
}

struct bytes sources_place(struct bytes source, struct arena *arena, const char **member) {
    struct url url;
    struct err err;
    struct bytes name;
    *member = "topic";
    if (url_parse(source, arena, &url, &err) != STATUS_OK)
        return BYTES_NONE;
    const char *parameter = place_member(&url, &name);
    if (parameter)
        *member = parameter;
    return name;
}

static int compare_hosts(const void *a, const void *b) {
    const struct url_host *left = a, *right = b;
    int order = bytes_cmp(left->name, right->name);
    return order ? order : left->port - right->port;
}

/* The vhost or database. */
static struct bytes path_of(const struct url *url) {
    const struct sources_kind *kind = find(url->scheme);
    return url->path.len == 0 && kind && kind->path ? bytes_of(kind->path) : url->path;
}

struct bytes sources_server(struct bytes source, struct arena *arena) {
    struct url url;
    struct err err;
    struct buf text;
    struct bytes place;
    if (url_parse(source, arena, &url, &err) != STATUS_OK)
        return BYTES_NONE;
    buf_init_heap(&text, URL_TEXT_MAX);
    qsort(url.hosts, url.host_count, sizeof *url.hosts, compare_hosts);
    for (size_t i = 0; i < url.host_count; i++)
        buf_printf(&text, "%.*s:%u,", BYTES_ARG(url.hosts[i].name), url.hosts[i].port);
    if (place_member(&url, &place)) /* else it is the path */
        buf_bytes(&text, path_of(&url));
    struct bytes server = arena_dup(arena, buf_view(&text));
    buf_free(&text);
    return server;
}

const char *sources_broker(struct bytes url) {
    const struct sources_kind *kind = find(scheme_of(url));
    return kind ? kind->broker : NULL;
}

struct broker *sources_new(const struct broker_options *options) {
    const struct sources_kind *kind = find(scheme_of(options->url));
    assert(kind && kind->make);
    return kind->make(options);
}

struct peek *sources_peek(const struct broker_options *options) {
    const struct sources_kind *kind = find(scheme_of(options->url));
    return kind && kind->peek ? kind->peek(options) : NULL;
}

/* ---- trying one out ---- */

static void ring(void *arg) {
    mailbox_ring(arg);
}

/* Its trouble, or that it has none, is told by a ring. */
static bool await_health(struct broker *broker, struct mailbox *bell, struct mono until,
                         struct clock *clock, struct broker_health *health) {
    for (;;) {
        broker->vtable->health(broker, health);
        if (health->connected || health->trouble.text[0])
            return true;
        if (clock_now(clock).mono.ms >= until.ms)
            return false;
        mailbox_wait(bell, until);
    }
}

enum status sources_connect(const struct broker_options *options, int64_t wait_ms,
                            struct err *err) {
    struct mailbox bell;
    struct broker_health health;
    struct mono until = mono_after(clock_now(options->clock).mono, wait_ms);
    mailbox_init(&bell);
    struct broker *broker = sources_new(options);
    broker->vtable->want(broker, false);
    broker->vtable->listen(broker, ring, &bell);
    bool known = await_health(broker, &bell, until, options->clock, &health);
    broker->vtable->free(broker);
    mailbox_free(&bell);
    if (!known)
        return peek_unanswered(wait_ms, err);
    if (!health.connected)
        *err = health.trouble;
    return health.connected ? STATUS_OK : health.trouble.status;
}

enum status sources_look(const struct broker_options *options, int64_t wait_ms, struct err *err) {
    struct peek *peek = sources_peek(options);
    if (!peek)
        return err_set(err, STATUS_FORBIDDEN, "its broker cannot be read without taking");
    enum status status = peek_begin_within(peek, options->clock, wait_ms, err);
    peek->vtable->free(peek);
    return status;
}
