/* jq_weave: compares the values before and after recursively, and copies the input's bytes where
 * both are equal. */
#include "jq/jq_weave.h"

#include "base/json/json.h"

/* A value before and after, and its text in the input. */
struct strand {
    struct json text;
    jv before, after; /* owned */
};

static void weave(const struct jq_exact *exact, struct strand strand, struct buf *out);

/* Consumes `value`. */
static void put_new(const struct jq_exact *exact, jv value, struct buf *out) {
    jv printed = jv_dump_string(value, 0);
    struct bytes text = {jv_string_value(printed),
                         (size_t)jv_string_length_bytes(jv_copy(printed))};
    jq_exact_output(exact, text, out);
    jv_free(printed);
}

/* The decoded name; parsed by jq, so that both sides agree on escapes. */
static jv name_of(struct bytes raw_key) {
    return jv_parse_sized(raw_key.ptr - 1, (int)raw_key.len + 2);
}

static struct bytes between(const char *from, const char *to) {
    return (struct bytes){from, (size_t)(to - from)};
}

/* Copies the bytes between two members, so that the spacing stays. If members are left out, the
 * first remaining one follows the brace directly. */
static void put_gap(const char *from, const char *member, const char *value, bool first, bool whole,
                    struct buf *out) {
    if (whole) {
        buf_bytes(out, between(from, value));
        return;
    }
    if (!first)
        buf_char(out, ',');
    buf_bytes(out, between(member, value));
}

/* Whether every member of the text still exists, so that all gaps can be copied. */
static bool keeps_all(const struct strand *strand) {
    for (struct json_walk walk = json_walk(strand->text); json_step(&walk);)
        if (!jv_object_has(jv_copy(strand->after), name_of(walk.key)))
            return false;
    return true;
}

static void put_added(const struct jq_exact *exact, const struct strand *strand, bool first,
                      struct buf *out) {
    jv_object_foreach(strand->after, key, value) {
        if (jv_object_has(jv_copy(strand->before), jv_copy(key))) {
            jv_free(key);
            jv_free(value);
            continue;
        }
        if (!first)
            buf_char(out, ',');
        put_new(exact, key, out);
        buf_char(out, ':');
        put_new(exact, value, out);
        first = false;
    }
}

static void weave_object(const struct jq_exact *exact, const struct strand *strand,
                         struct buf *out) {
    bool whole = keeps_all(strand), first = true;
    const char *done = strand->text.text.ptr + 1;
    buf_char(out, '{');
    for (struct json_walk walk = json_walk(strand->text); json_step(&walk);) {
        jv name = name_of(walk.key);
        const char *value_end = walk.value.text.ptr + walk.value.text.len;
        if (jv_object_has(jv_copy(strand->after), jv_copy(name))) {
            put_gap(done, walk.key.ptr - 1, walk.value.text.ptr, first, whole, out);
            weave(exact,
                  (struct strand){walk.value, jv_object_get(jv_copy(strand->before), jv_copy(name)),
                                  jv_object_get(jv_copy(strand->after), jv_copy(name))},
                  out);
            first = false;
        }
        done = value_end;
        jv_free(name);
    }
    put_added(exact, strand, first, out);
    const char *end = strand->text.text.ptr + strand->text.text.len;
    buf_bytes(out, whole ? between(done, end) : BYTES("}"));
}

static void weave_array(const struct jq_exact *exact, const struct strand *strand,
                        struct buf *out) {
    int length = jv_array_length(jv_copy(strand->after)), index = 0;
    const char *done = strand->text.text.ptr + 1, *end = done + strand->text.text.len - 1;
    buf_char(out, '[');
    struct json_walk walk = json_walk(strand->text);
    for (; index < length && json_step(&walk); index++) {
        buf_bytes(out, between(done, walk.value.text.ptr));
        weave(exact,
              (struct strand){walk.value, jv_array_get(jv_copy(strand->before), index),
                              jv_array_get(jv_copy(strand->after), index)},
              out);
        done = walk.value.text.ptr + walk.value.text.len;
    }
    bool whole = !json_step(&walk);
    for (; index < length; index++) {
        if (index > 0)
            buf_char(out, ',');
        put_new(exact, jv_array_get(jv_copy(strand->after), index), out);
    }
    buf_bytes(out, whole ? between(done, end) : BYTES("]"));
}

/* Consumes the strand's values. */
static void weave(const struct jq_exact *exact, struct strand strand, struct buf *out) {
    jv_kind kind = jv_get_kind(strand.after);
    bool same_kind = kind == jv_get_kind(strand.before);
    if (same_kind && jv_equal(jv_copy(strand.before), jv_copy(strand.after)))
        buf_bytes(out, strand.text.text);
    else if (same_kind && kind == JV_KIND_OBJECT)
        weave_object(exact, &strand, out);
    else if (same_kind && kind == JV_KIND_ARRAY)
        weave_array(exact, &strand, out);
    else
        put_new(exact, jv_copy(strand.after), out);
    jv_free(strand.before);
    jv_free(strand.after);
}

void jq_weave(const struct jq_exact *exact, struct bytes input, jv before, jv after,
              struct buf *out) {
    struct json text;
    if (json_parse(input, &text, NULL) == STATUS_OK) {
        weave(exact, (struct strand){text, before, after}, out);
        return;
    }
    jv_free(before);
    put_new(exact, after, out);
}
