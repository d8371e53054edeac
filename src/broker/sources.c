#include "broker/sources.h"

#include <assert.h>
#include <stdlib.h>

#include "base/thread/mailbox.h"
#include "base/text/suggest.h"
#include "broker/common/url.h"
#include "broker/registry.h"

static enum status unknown(struct bytes scheme, struct err *err) {
    struct suggest suggest = suggest_for(scheme);
    for (const struct broker_kind *const *kind = registry_kinds; *kind; kind++)
        for (size_t i = 0; i < 2; i++)
            if ((*kind)->schemes[i])
                suggest_try(&suggest, bytes_of((*kind)->schemes[i]));
    for (const char *const *planned = registry_planned_schemes; *planned; planned++) {
        if (bytes_is(scheme, *planned))
            return err_set(err, STATUS_NOT_YET, "source %s:// is not in this version", *planned);
        suggest_try(&suggest, bytes_of(*planned));
    }
    if (scheme.len == 0 || suggest.best.len == 0)
        return err_set(err, STATUS_NOT_FOUND, "it is not the URL of a broker");
    return err_set(err, STATUS_INVALID, "there is no %.*s://; did you mean %.*s://?",
                   BYTES_ARG(scheme), BYTES_ARG(suggest.best));
}

static enum status check(struct bytes source, bool peek, struct err *err) {
    struct bytes scheme = registry_scheme(source);
    const struct broker_kind *kind = registry_of_url(source);
    if (bytes_is(source, SOURCES_BUILTIN))
        return STATUS_OK;
    if (!kind)
        return unknown(scheme, err);
    if (kind->source_check)
        return (peek ? kind->peek_check : kind->source_check)(source, err);
    return err_set(err, STATUS_NOT_YET, "source %.*s:// is not in this build, which has no %s",
                   BYTES_ARG(scheme), kind->library);
}

enum status sources_check(struct bytes source, struct err *err) {
    return check(source, false, err);
}

enum status sources_check_peek(struct bytes source, struct err *err) {
    return check(source, true, err);
}

/* BYTES_NONE: the URL has no such parameter. */
static struct bytes parameter(const struct url *url, const char *name) {
    for (size_t i = 0; name && i < url->parameter_count; i++)
        if (bytes_is(url->parameters[i].name, name))
            return url->parameters[i].value;
    return BYTES_NONE;
}

struct bytes sources_group(struct bytes source, struct arena *arena) {
    const struct broker_kind *kind = registry_of_url(source);
    struct url url;
    struct err err;
    if (!kind || url_parse(source, arena, &url, &err) != STATUS_OK)
        return BYTES_NONE;
    return parameter(&url, kind->group_parameter);
}

struct bytes sources_place(struct bytes source, struct arena *arena, const char **member) {
    const struct broker_kind *kind = registry_of_url(source);
    struct url url;
    struct err err;
    *member = "topic";
    if (!kind || url_parse(source, arena, &url, &err) != STATUS_OK)
        return BYTES_NONE;
    for (const char *const *name = kind->place_parameters; *name; name++) {
        struct bytes place = parameter(&url, *name);
        if (place.len > 0) {
            *member = *name;
            return place;
        }
    }
    *member = kind->path_place;
    return kind->path_place ? url.path : BYTES_NONE;
}

static int compare_hosts(const void *a, const void *b) {
    const struct url_host *left = a, *right = b;
    int order = bytes_cmp(left->name, right->name);
    return order ? order : left->port - right->port;
}

struct bytes sources_server(struct bytes source, struct arena *arena) {
    const struct broker_kind *kind = registry_of_url(source);
    struct url url;
    struct err err;
    struct buf text;
    if (!kind || url_parse(source, arena, &url, &err) != STATUS_OK)
        return BYTES_NONE;
    buf_init_heap(&text, URL_TEXT_MAX);
    qsort(url.hosts, url.host_count, sizeof *url.hosts, compare_hosts);
    for (size_t i = 0; i < url.host_count; i++)
        buf_printf(&text, "%.*s:%u,", BYTES_ARG(url.hosts[i].name), url.hosts[i].port);
    if (!kind->path_place) /* it is the database or virtual host */
        buf_bytes(&text, url.path.len == 0 && kind->path_default ? bytes_of(kind->path_default)
                                                                 : url.path);
    struct bytes server = arena_dup(arena, buf_view(&text));
    buf_free(&text);
    return server;
}

const char *sources_broker(struct bytes url) {
    const struct broker_kind *kind = registry_of_url(url);
    return kind ? kind->name : NULL;
}

struct broker *sources_new(const struct broker_options *options) {
    const struct broker_kind *kind = registry_of_url(options->url);
    assert(kind && kind->source_new);
    struct broker *broker = kind->source_new(options);
    assert(broker->vtable->want && broker->vtable->health && broker->vtable->listen);
    return broker;
}

struct peek *sources_peek(const struct broker_options *options) {
    const struct broker_kind *kind = registry_of_url(options->url);
    return kind && kind->peek_new ? kind->peek_new(options) : NULL;
}

/* ---- trying one out ---- */

static void ring(void *arg) {
    mailbox_ring(arg);
}

/* Its trouble, or that it has none, is told by a ring. */
static bool await_health(struct broker *broker, struct mailbox *wakeup, struct mono until,
                         struct clock *clock, struct broker_health *health) {
    for (;;) {
        broker->vtable->health(broker, health);
        if (health->connected || health->trouble.text[0])
            return true;
        if (clock_now(clock).mono.ms >= until.ms)
            return false;
        mailbox_wait(wakeup, until);
    }
}

enum status sources_connect(const struct broker_options *options, int64_t wait_ms,
                            struct err *err) {
    struct mailbox wakeup;
    struct broker_health health;
    struct mono until = mono_after(clock_now(options->clock).mono, wait_ms);
    mailbox_init(&wakeup);
    struct broker *broker = sources_new(options);
    broker->vtable->want(broker, false);
    broker->vtable->listen(broker, ring, &wakeup);
    bool known = await_health(broker, &wakeup, until, options->clock, &health);
    broker->vtable->free(broker);
    mailbox_free(&wakeup);
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
