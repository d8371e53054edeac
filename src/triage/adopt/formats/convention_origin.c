/* convention_origin: coordinates of a dead letter and of its original, as JSON objects. */
#include "triage/adopt/formats/convention_origin.h"

#include "base/json/json_member.h"

enum { SOURCE_MAX = 4 << 20 };

/* The properties may be large, and convention_origin_source has them already. */
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

/* What the broker calls a position in a place. */
static const char *position_member(const struct broker_kind *broker) {
    for (const struct broker_coordinate *at = broker->coordinates; at->member; at++)
        if (at->number)
            return at->member;
    return "offset";
}

static void put_coordinates(const struct convention_facts *facts, const struct broker_kind *broker,
                            struct json_out *out) {
    put_text(facts, FACT_PLACE, broker->coordinates[0].member, out);
    put_text(facts, FACT_TOPIC, "topic", out);
    put_number(facts, FACT_PARTITION, "partition", out);
    put_number(facts, FACT_OFFSET, position_member(broker), out);
    put_text(facts, FACT_EXCHANGE, "exchange", out);
    put_text(facts, FACT_ROUTING_KEY, "routing_key", out);
}

/* What of the letter's own coordinates is the message's goes back with it. */
static void put_kept(const struct convention_facts *facts, const struct broker_kind *broker,
                     struct json_out *out) {
    struct json value;
    for (const char *const *member = broker->kept_members; *member; member++)
        if (json_get(facts->letter->source, *member, &value)) {
            json_key(out, *member);
            json_put_raw(out, value.text);
        }
}

struct bytes convention_origin_source(const struct convention_facts *facts) {
    const struct broker_kind *broker = facts->letter->broker;
    struct json origin;
    struct buf text;
    /* Where the broker adapter followed a pointer, it gives the original's coordinates itself. */
    if (json_get(facts->letter->source, "origin", &origin))
        return arena_dup(facts->arena, origin.text);
    if (facts->facts[FACT_ORIGIN].known)
        return facts->facts[FACT_ORIGIN].text;
    buf_init_heap(&text, SOURCE_MAX);
    struct json_out out = json_out(&text);
    json_open(&out, '{');
    json_member_text(&out, "kind", facts->letter->kind);
    if (broker && (facts->facts[FACT_PLACE].known || facts->facts[FACT_EXCHANGE].known))
        put_coordinates(facts, broker, &out);
    if (broker)
        put_kept(facts, broker, &out);
    json_close(&out, '}');
    struct bytes source = arena_dup(facts->arena, buf_view(&text));
    buf_free(&text);
    return source;
}
