/* otlp: builds the protobuf request, and parses the answer. */
#include "telemetry/otlp.h"

#include <assert.h>
#include <otlp.pb-c.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"

#define SCOPE "impound"

enum {
    OTLP_ARENA_CHUNK = 64 << 10,
    OTLP_ANSWER_MAX = 64 << 10, /* bytes; a longer answer is ignored */
    STATUS_CODE_ERROR = 2,
    FLAGS_MASK = 0xff, /* the trace flags in a span's flags */
    NS_OF_MS = 1000 * 1000,
};

/* ---- parts ---- */

/* NUL-terminated UTF-8 without a NUL inside; invalid bytes are replaced. */
static char *text_of(struct arena *arena, struct bytes text) {
    struct buf mended;
    size_t room = text.len * 3 + 1;
    buf_init_fixed(&mended, arena_alloc(arena, room), room);
    for (size_t i = 0, run; i < text.len; i += run ? run : 1) {
        run = text.ptr[i] ? bytes_utf8_front(bytes_cut(text, i, text.len)) : 0;
        if (run)
            buf_put(&mended, text.ptr + i, run);
        else
            buf_str(&mended, "\xEF\xBF\xBD");
    }
    buf_char(&mended, '\0');
    return mended.ptr;
}

static ProtobufCBinaryData id_of(const unsigned char *id, size_t size) {
    return (ProtobufCBinaryData){size, (uint8_t *)(uintptr_t)id};
}

static Otlp__KeyValue *attribute_of(struct arena *arena, const struct span_attribute *from) {
    Otlp__KeyValue *pair = arena_alloc(arena, sizeof *pair);
    Otlp__AnyValue *value = arena_alloc(arena, sizeof *value);
    otlp__key_value__init(pair);
    otlp__any_value__init(value);
    pair->key = (char *)(uintptr_t)from->name;
    pair->value = value;
    if (from->text.ptr) {
        value->value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
        value->string_value = text_of(arena, from->text);
    } else {
        value->value_case = OTLP__ANY_VALUE__VALUE_INT_VALUE;
        value->int_value = from->number;
    }
    return pair;
}

static Otlp__KeyValue **attributes_of(struct arena *arena, const struct span_attribute *from,
                                      size_t count) {
    Otlp__KeyValue **list = arena_alloc(arena, (count + 1) * sizeof(Otlp__KeyValue *));
    for (size_t i = 0; i < count; i++)
        list[i] = attribute_of(arena, &from[i]);
    return list;
}

static Otlp__Link *link_of(struct arena *arena, const struct span_link *from) {
    Otlp__Link *link = arena_alloc(arena, sizeof *link);
    otlp__link__init(link);
    link->trace_id = id_of(from->to.trace_id, TRACE_ID_SIZE);
    link->span_id = id_of(from->to.span_id, SPAN_ID_SIZE);
    link->trace_state = text_of(arena, from->trace_state);
    link->flags = from->to.flags & FLAGS_MASK;
    return link;
}

static Otlp__Status *status_of(struct arena *arena, const struct span *from) {
    if (!from->failed)
        return NULL;
    Otlp__Status *status = arena_alloc(arena, sizeof *status);
    otlp__status__init(status);
    status->code = STATUS_CODE_ERROR;
    status->message = text_of(arena, from->trouble);
    return status;
}

static uint64_t nanoseconds(struct wall at) {
    return at.ms > 0 ? (uint64_t)at.ms * NS_OF_MS : 0;
}

static Otlp__Span *span_of(struct arena *arena, const struct span *from) {
    static const unsigned char nobody[SPAN_ID_SIZE];
    Otlp__Span *span = arena_alloc(arena, sizeof *span);
    otlp__span__init(span);
    span->trace_id = id_of(from->own.trace_id, TRACE_ID_SIZE);
    span->span_id = id_of(from->own.span_id, SPAN_ID_SIZE);
    if (memcmp(from->parent, nobody, SPAN_ID_SIZE) != 0)
        span->parent_span_id = id_of(from->parent, SPAN_ID_SIZE);
    span->trace_state = text_of(arena, from->trace_state);
    span->name = text_of(arena, from->name);
    span->kind = (int32_t)from->kind;
    span->start_time_unix_nano = nanoseconds(from->from);
    span->end_time_unix_nano = nanoseconds(from->to);
    span->n_attributes = from->attribute_count;
    span->attributes = attributes_of(arena, from->attributes, from->attribute_count);
    span->n_links = from->link_count;
    span->links = arena_alloc(arena, (from->link_count + 1) * sizeof(Otlp__Link *));
    for (size_t i = 0; i < from->link_count; i++)
        span->links[i] = link_of(arena, &from->links[i]);
    span->status = status_of(arena, from);
    span->flags = from->own.flags & FLAGS_MASK;
    return span;
}

/* ---- the request ---- */

static void fill_resource(struct arena *arena, const struct otlp_origin *origin,
                          Otlp__Resource *resource) {
    const struct span_attribute attributes[] = {
        {.name = "service.name", .text = origin->service},
        {.name = "service.version", .text = origin->version},
        {.name = "service.instance.id", .text = origin->instance},
    };
    otlp__resource__init(resource);
    resource->n_attributes = sizeof attributes / sizeof *attributes;
    resource->attributes = attributes_of(arena, attributes, resource->n_attributes);
}

static void fill_spans(struct arena *arena, const struct span *const *spans, size_t count,
                       Otlp__ScopeSpans *out) {
    otlp__scope_spans__init(out);
    out->n_spans = count;
    out->spans = arena_alloc(arena, (count + 1) * sizeof(Otlp__Span *));
    for (size_t i = 0; i < count; i++)
        out->spans[i] = span_of(arena, spans[i]);
}

void otlp_put_request(const struct otlp_origin *origin, const struct span *const *spans,
                      size_t count, struct buf *out) {
    assert(count > 0);
    struct arena arena;
    Otlp__Resource resource;
    Otlp__InstrumentationScope scope = OTLP__INSTRUMENTATION_SCOPE__INIT;
    Otlp__ScopeSpans scope_spans, *scopes[] = {&scope_spans};
    Otlp__ResourceSpans resource_spans = OTLP__RESOURCE_SPANS__INIT,
                        *resources[] = {&resource_spans};
    Otlp__TraceRequest request = OTLP__TRACE_REQUEST__INIT;
    arena_init_heap(&arena, OTLP_ARENA_CHUNK);
    fill_resource(&arena, origin, &resource);
    scope.name = (char *)(uintptr_t)SCOPE;
    scope.version = text_of(&arena, origin->version);
    fill_spans(&arena, spans, count, &scope_spans);
    scope_spans.scope = &scope;
    resource_spans.resource = &resource;
    resource_spans.n_scope_spans = 1;
    resource_spans.scope_spans = scopes;
    request.n_resource_spans = 1;
    request.resource_spans = resources;
    char *room = buf_room(out, otlp__trace_request__get_packed_size(&request));
    if (room)
        otlp__trace_request__pack(&request, (uint8_t *)room);
    arena_free(&arena);
}

/* ---- the answer ---- */

void otlp_read_answer(struct bytes body, struct otlp_answer *out) {
    *out = (struct otlp_answer){0};
    if (body.len == 0 || body.len > OTLP_ANSWER_MAX)
        return;
    Otlp__TraceResponse *answer =
        otlp__trace_response__unpack(NULL, body.len, (const uint8_t *)body.ptr);
    if (!answer)
        return;
    const Otlp__PartialSuccess *partial = answer->partial_success;
    if (partial && partial->rejected_spans > 0)
        out->rejected = (uint64_t)partial->rejected_spans;
    if (partial)
        snprintf(out->text, sizeof out->text, "%s", partial->error_message);
    otlp__trace_response__free_unpacked(answer, NULL);
}
