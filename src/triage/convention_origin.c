#include "triage/convention_origin.h"

#include "base/json_member.h"

enum { SOURCE_MAX = 4 << 20 };

/* How each broker calls the place where messages wait, and what of the letter's own coordinates is
 * the message's: it goes back with it. */
static const struct origin_kind {
    const char *kind;
    const char *place;
    const char *kept[2];
} kinds[] = {
    {"kafka", "topic", {"tombstone", "null_headers"}},
    {"rabbitmq", "queue", {"vhost", "properties"}},
    {"nats", "subject", {"typed", NULL}},
    {"redis", "list", {NULL, NULL}},
};

static const struct origin_kind *find(struct bytes kind) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (bytes_is(kind, kinds[i].kind))
            return &kinds[i];
    return NULL;
}

/* It may be large, and stands in the source. */
static bool is_properties(struct bytes key) {
    return json_key_is(key, "properties");
}

void convention_origin_at(const struct convention_facts *facts, struct json_out *out) {
    json_open(out, '{');
    for (struct json_walk walk = json_walk(facts->letter->source); json_step(&walk);) {
        if (is_properties(walk.key))
            continue;
        struct bytes key;
        if (!json_unescape(walk.key, facts->arena, &key))
            continue;
        json_key_bytes(out, key);
        json_put_raw(out, walk.value.text);
    }
    json_close(out, '}');
}

static void put_number(const struct convention_facts *facts, enum convention_fact fact,
                       const char *key, struct json_out *out) {
    if (!facts->facts[fact].known)
        return;
    json_key(out, key);
    json_put_i64(out, facts->facts[fact].number);
}

static void put_text(const struct convention_facts *facts, enum convention_fact fact,
                     const char *key, struct json_out *out) {
    if (!facts->facts[fact].known)
        return;
    json_key(out, key);
    json_put(out, facts->facts[fact].text);
}

static void put_coordinates(const struct convention_facts *facts, const struct origin_kind *kind,
                            struct json_out *out) {
    put_text(facts, FACT_PLACE, kind->place, out);
    put_text(facts, FACT_TOPIC, "topic", out);
    put_number(facts, FACT_PARTITION, "partition", out);
    put_number(facts, FACT_OFFSET, bytes_is(facts->letter->kind, "nats") ? "sequence" : "offset",
               out);
    put_text(facts, FACT_EXCHANGE, "exchange", out);
    put_text(facts, FACT_ROUTING_KEY, "routing_key", out);
}

static void put_kept(const struct convention_facts *facts, const struct origin_kind *kind,
                     struct json_out *out) {
    struct json value;
    for (size_t i = 0; i < 2 && kind->kept[i]; i++)
        if (json_get(facts->letter->source, kind->kept[i], &value)) {
            json_key(out, kind->kept[i]);
            json_put_raw(out, value.text);
        }
}

struct bytes convention_origin_source(const struct convention_facts *facts) {
    const struct origin_kind *kind = find(facts->letter->kind);
    struct json origin;
    struct buf text;
    /* A broker that followed a pointer says itself where the message was. */
    if (json_get(facts->letter->source, "origin", &origin))
        return arena_dup(facts->arena, origin.text);
    if (facts->facts[FACT_ORIGIN].known)
        return facts->facts[FACT_ORIGIN].text;
    buf_init_heap(&text, SOURCE_MAX);
    struct json_out out = json_out(&text);
    json_open(&out, '{');
    json_member_text(&out, "kind", facts->letter->kind);
    if (kind && (facts->facts[FACT_PLACE].known || facts->facts[FACT_EXCHANGE].known))
        put_coordinates(facts, kind, &out);
    if (kind)
        put_kept(facts, kind, &out);
    json_close(&out, '}');
    struct bytes source = arena_dup(facts->arena, buf_view(&text));
    buf_free(&text);
    return source;
}
