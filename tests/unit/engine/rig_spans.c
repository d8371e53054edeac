#include "rig_spans.h"

static void record(struct spans *port, const struct span *span) {
    struct rig_spans *spans = CONTAINER_OF(port, struct rig_spans, spans);
    assert_true(spans->count < RIG_SPANS_MAX);
    struct span *kept = &spans->list[spans->count++];
    *kept = *span;
    kept->name = arena_dup(&spans->arena, span->name);
    kept->trace_state = arena_dup(&spans->arena, span->trace_state);
    kept->trouble = arena_dup(&spans->arena, span->trouble);
    for (size_t i = 0; i < span->attribute_count; i++)
        if (span->attributes[i].text.ptr)
            kept->attributes[i].text = arena_dup(&spans->arena, span->attributes[i].text);
    for (size_t i = 0; i < span->link_count; i++)
        kept->links[i].trace_state = arena_dup(&spans->arena, span->links[i].trace_state);
}

void rig_spans_init(struct rig_spans *spans, struct rig *rig) {
    static const struct spans_vtable vtable = {.record = record};
    *spans = (struct rig_spans){.spans = {&vtable, 1000}};
    arena_init_heap(&spans->arena, 4096);
    rig->spans = &spans->spans;
}

void rig_spans_free(struct rig_spans *spans) {
    arena_free(&spans->arena);
}

void rig_spans_assert_names(const struct rig_spans *spans, const char *names) {
    char memory[4096];
    struct buf text;
    buf_init_fixed(&text, memory, sizeof memory);
    for (size_t i = 0; i < spans->count; i++) {
        buf_str(&text, i ? ", " : "");
        buf_bytes(&text, spans->list[i].name);
    }
    assert_string_equal(buf_cstr(&text), names);
}

const struct span_attribute *rig_spans_attribute(const struct span *span, const char *name) {
    const struct span_attribute *found = NULL;
    for (size_t i = 0; i < span->attribute_count; i++) {
        if (strcmp(span->attributes[i].name, name) != 0)
            continue;
        assert_null(found); /* each name once */
        found = &span->attributes[i];
    }
    return found;
}

void rig_spans_assert_text(const struct span *span, const char *name, const char *text) {
    const struct span_attribute *attribute = rig_spans_attribute(span, name);
    assert_int_equal(attribute != NULL, text != NULL);
    if (text)
        assert_bytes(attribute->text, text);
}

void rig_spans_assert_number(const struct span *span, const char *name, int64_t number) {
    const struct span_attribute *attribute = rig_spans_attribute(span, name);
    assert_non_null(attribute);
    assert_null(attribute->text.ptr);
    assert_int_equal(attribute->number, number);
}

void rig_spans_assert_parent(const struct span *span, const unsigned char parent[SPAN_ID_SIZE]) {
    assert_memory_equal(span->parent, parent, SPAN_ID_SIZE);
}

bool rig_spans_same_trace(const struct span *a, const struct span *b) {
    return memcmp(a->own.trace_id, b->own.trace_id, TRACE_ID_SIZE) == 0;
}
