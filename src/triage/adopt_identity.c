#include "triage/adopt_identity.h"

#include <sodium.h>

/* Which kinds of sources have coordinates: this member of a source says so, and the message's id
 * has them, within the thing that `inside` names where it needs one. */
static const struct {
    const char *kind, *coordinate, *inside;
} exact_kinds[] = {
    {"kafka", "offset", NULL},
    {"nats", "sequence", NULL},
    {"redis", "entry", "stream"},
};

/* They change with each delivery. */
static const char *const changing[] = {"x-delivery-count", "x-acquired-count"};

static bool is_changing(struct bytes name) {
    for (size_t i = 0; i < sizeof changing / sizeof *changing; i++)
        if (bytes_is(name, changing[i]))
            return true;
    return false;
}

/* Lengths keep neighbours apart. */
static void add(crypto_hash_sha256_state *state, struct bytes text) {
    uint64_t len = text.len;
    unsigned char head[8];
    for (size_t i = 0; i < sizeof head; i++)
        head[i] = (unsigned char)(len >> 8 * i);
    crypto_hash_sha256_update(state, head, sizeof head);
    crypto_hash_sha256_update(state, (const unsigned char *)text.ptr, text.len);
}

static void add_content(crypto_hash_sha256_state *state, const struct store_held *held) {
    const struct envelope *envelope = &held->envelope;
    for (size_t i = 0; i < envelope->header_count; i++) {
        if (is_changing(envelope->headers[i].name))
            continue;
        add(state, envelope->headers[i].name);
        add(state, envelope->headers[i].value);
    }
    add(state, envelope->key);
    add(state, held->body);
}

static bool add_coordinates(crypto_hash_sha256_state *state, struct json source,
                            const struct envelope *envelope) {
    struct json kind, member;
    if (!json_get(source, "kind", &kind))
        return false;
    for (size_t i = 0; i < sizeof exact_kinds / sizeof *exact_kinds; i++) {
        struct bytes name = bytes_cut(kind.text, 1, kind.text.len - 1);
        if (!bytes_is(name, exact_kinds[i].kind) ||
            !json_get(source, exact_kinds[i].coordinate, &member))
            continue;
        if (exact_kinds[i].inside && json_get(source, exact_kinds[i].inside, &member))
            add(state, member.text);
        add(state, envelope->id);
        return true;
    }
    return false;
}

static void finish(crypto_hash_sha256_state *state, char text[ADOPT_IDENTITY_SIZE]) {
    unsigned char hash[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_final(state, hash);
    sodium_bin2hex(text, ADOPT_IDENTITY_SIZE, hash, sizeof hash);
}

void adopt_identity_of(const struct store_held *held, struct adopt_identity *out) {
    crypto_hash_sha256_state state;
    struct json source;
    crypto_hash_sha256_init(&state);
    out->exact = json_parse(held->envelope.source, &source, NULL) == STATUS_OK &&
                 add_coordinates(&state, source, &held->envelope);
    if (!out->exact)
        add_content(&state, held);
    crypto_hash_sha256_state beside = state;
    finish(&state, out->text);
    add(&beside, held->delivery);
    finish(&beside, out->delivery);
    if (out->exact || held->delivery.len == 0)
        out->delivery[0] = '\0';
}
