/* adopt_identity: SHA-256 over the parts of a message that are the same in each delivery. */
#include "triage/adopt/adopt_identity.h"

#include <sodium.h>

_Static_assert(ADOPT_IDENTITY_SIZE == 2 * crypto_hash_sha256_BYTES + 1, "hex of SHA-256");

/* Whether the header changes with each delivery, at whichever broker it was added. */
static bool is_changing(const struct broker_kind *const *brokers, struct bytes name) {
    for (; *brokers; brokers++)
        for (const char *const *header = (*brokers)->changing_headers; *header; header++)
            if (bytes_is(name, *header))
                return true;
    return false;
}

static void add_number(crypto_hash_sha256_state *state, uint64_t number) {
    unsigned char bytes[8];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(number >> 8 * i);
    crypto_hash_sha256_update(state, bytes, sizeof bytes);
}

/* The length in front keeps adjacent texts apart. */
static void add(crypto_hash_sha256_state *state, struct bytes text) {
    add_number(state, text.len);
    crypto_hash_sha256_update(state, (const unsigned char *)text.ptr, text.len);
}

static void add_content(crypto_hash_sha256_state *state, const struct broker_kind *const *brokers,
                        const struct message *held) {
    const struct envelope *envelope = &held->envelope;
    for (size_t i = 0; i < envelope->header_count; i++) {
        if (is_changing(brokers, envelope->headers[i].name))
            continue;
        add(state, envelope->headers[i].name);
        add(state, envelope->headers[i].value);
    }
    add(state, envelope->key);
    add(state, held->body);
}

/* The kind of a message that its coordinates make unique; NULL: they do not. */
static const struct broker_kind *find_kind(const struct broker_kind *const *brokers,
                                           struct json source) {
    struct json kind, member;
    if (!json_get(source, "kind", &kind))
        return NULL;
    const struct broker_kind *found =
        broker_kind_find(brokers, bytes_cut(kind.text, 1, kind.text.len - 1));
    return found && found->unique_by && json_get(source, found->unique_by, &member) ? found : NULL;
}

static void add_coordinates(crypto_hash_sha256_state *state, const struct broker_kind *kind,
                            struct json source, const struct envelope *envelope) {
    struct json member;
    if (kind->unique_within && json_get(source, kind->unique_within, &member))
        add(state, member.text);
    add(state, envelope->id);
}

static void add_members(crypto_hash_sha256_state *state, struct json object,
                        const char *const names[]) {
    struct json member;
    for (; *names; names++)
        add(state, json_get(object, *names, &member) ? member.text : BYTES_NONE);
}

/* The content of a pointer message (source.origin), not of the message that it points to, which may
 * be gone the next time. */
static void add_pointer(crypto_hash_sha256_state *state, struct json source, struct json origin) {
    static const char *const said[] = {"dead_at", "advisory", NULL};
    static const char *const to[] = {"topic", "partition", "offset", "stream", "sequence", NULL};
    add_members(state, source, said);
    add_members(state, origin, to);
}

/* The content at these coordinates, which is the same in each delivery unless the place was deleted
 * and created again. */
static void add_print(crypto_hash_sha256_state *state, const struct broker_kind *const *brokers,
                      const struct broker_kind *kind, struct json source,
                      const struct message *held) {
    struct json origin;
    if (json_get(source, "origin", &origin)) {
        add_pointer(state, source, origin);
        return;
    }
    add_number(state, (uint64_t)held->envelope.created_at.ms);
    if (kind->same_headers)
        add_content(state, brokers, held);
    else
        add(state, held->body);
}

/* Leaves `state` usable for more input. */
static void print_state(const crypto_hash_sha256_state *state, char text[ADOPT_IDENTITY_SIZE]) {
    crypto_hash_sha256_state copy = *state;
    unsigned char hash[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_final(&copy, hash);
    sodium_bin2hex(text, ADOPT_IDENTITY_SIZE, hash, sizeof hash);
}

void adopt_identity_of(const struct broker_kind *const *brokers, const struct message *held,
                       struct adopt_identity *out) {
    crypto_hash_sha256_state state;
    struct json source;
    const struct broker_kind *kind = NULL;
    crypto_hash_sha256_init(&state);
    if (json_parse(held->envelope.source, &source, NULL) == STATUS_OK)
        kind = find_kind(brokers, source);
    *out = (struct adopt_identity){.exact = kind != NULL};
    if (kind) {
        add_coordinates(&state, kind, source, &held->envelope);
        print_state(&state, out->place);
        add_print(&state, brokers, kind, source, held);
    } else {
        add_content(&state, brokers, held);
    }
    print_state(&state, out->text);
    if (kind || held->delivery.len == 0)
        return;
    add(&state, held->delivery);
    print_state(&state, out->delivery);
}
