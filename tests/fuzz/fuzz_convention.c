/* Whatever lies in somebody's dead-letter queue: it becomes a letter that can be stored, shown and
 * sent back. A line with the source, lines "name:value" of headers, an empty line, a line with the
 * key, the body. */
#include "fuzz.h"

#include "broker/registry.h"
#include "triage/adopt/formats/convention.h"

enum { TEXT_MAX = 1 << 24 };

static void read_headers(struct bytes *rest, struct message *held) {
    struct bytes line;
    struct rule_header *headers = arena_alloc(&held->arena, ENVELOPE_HEADERS_MAX * sizeof *headers);
    while (bytes_line(rest, &line) && line.len > 0) {
        size_t colon = bytes_find(line, BYTES(":"));
        if (held->envelope.header_count < ENVELOPE_HEADERS_MAX)
            headers[held->envelope.header_count++] = (struct rule_header){
                bytes_cut(line, 0, colon), bytes_cut(line, colon + 1, line.len)};
    }
    held->envelope.headers = headers;
}

static struct message *give(struct bytes rest) {
    struct message *held = message_new();
    struct json source;
    bytes_line(&rest, &held->envelope.source);
    if (json_parse(held->envelope.source, &source, NULL) != STATUS_OK || source.type != JSON_OBJECT)
        held->envelope.source = BYTES("{\"kind\":\"kafka\"}");
    read_headers(&rest, held);
    bytes_line(&rest, &held->envelope.key);
    held->envelope.id = BYTES("given");
    held->envelope.retry_after_ms = -1;
    held->body = rest.ptr ? rest : BYTES("");
    return held;
}

static void check_object(struct bytes text) {
    struct json json;
    FUZZ_CHECK(json_parse(text, &json, NULL) == STATUS_OK && json.type == JSON_OBJECT);
}

static void check_stored(const struct envelope *envelope, struct bytes body) {
    struct arena arena;
    struct buf text;
    struct envelope again;
    arena_init_heap(&arena, 4096);
    buf_init_heap(&text, TEXT_MAX);
    envelope_encode(envelope, ENVELOPE_WITH_BODY, body, &text);
    check_object(buf_view(&text));
    buf_clear(&text);
    envelope_store(envelope, &text);
    FUZZ_CHECK(envelope_restore(buf_view(&text), &arena, &again, NULL) == STATUS_OK);
    FUZZ_CHECK(bytes_eq(again.reason, envelope->reason));
    FUZZ_CHECK(again.dead_at.ms == envelope->dead_at.ms);
    buf_free(&text);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct message *held = give(fuzz_text(data, size));
    struct envelope *envelope = &held->envelope;
    const struct convention *convention = convention_find(held);
    FUZZ_CHECK(convention);
    convention_read(convention, registry_kinds, BYTES("legacy"), (struct wall){1763215787123},
                    held);
    FUZZ_CHECK(envelope->state == STATE_PENDING_REVIEW && envelope->cause == CAUSE_ADOPTED);
    FUZZ_CHECK(envelope->reason.len > 0 && envelope->category.len > 0);
    FUZZ_CHECK(envelope->queue.len > 0 && envelope->id.len > 0);
    FUZZ_CHECK(envelope->dead_at.ms > 0 && envelope->created_at.ms > 0);
    FUZZ_CHECK(envelope->size == held->body.len);
    check_object(envelope->source);
    check_object(envelope->context);
    check_stored(envelope, held->body);
    message_free(held);
    return 0;
}
