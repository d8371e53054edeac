/* Whatever a worker sends about leases: refused with words, or answers that each name a lease. */
#include "fuzz.h"

#include "server/api/json/lease_json.h"

static const struct wall now = {1700000000000};

static void try_bulk(struct json object, struct arena *arena) {
    struct engine_release *releases;
    size_t count;
    struct err err = {STATUS_OK, ""};
    enum status status = lease_json_parse_bulk(object, now, arena, &releases, &count, &err);
    FUZZ_CHECK(status == STATUS_OK || err.text[0]);
    if (status != STATUS_OK)
        return;
    FUZZ_CHECK(count <= ENGINE_LEASE_MESSAGES_MAX);
    for (size_t i = 0; i < count; i++) {
        FUZZ_CHECK(releases[i].lease.len > 0);
        FUZZ_CHECK(releases[i].lease_ms >= 0 && releases[i].lease_ms <= ENGINE_LEASE_MAX_MS);
    }
}

static void try_ask(struct json object, struct arena *arena) {
    struct engine_lease lease;
    struct err err = {STATUS_OK, ""};
    enum status status = lease_json_parse_ask(object, arena, &lease, &err);
    FUZZ_CHECK(status == STATUS_OK || err.text[0]);
    if (status != STATUS_OK)
        return;
    FUZZ_CHECK(lease.max >= 1 && lease.max <= ENGINE_LEASE_MESSAGES_MAX);
    FUZZ_CHECK(lease.wait_ms >= 0 && lease.wait_ms <= ENGINE_LEASE_WAIT_MAX_MS);
    FUZZ_CHECK(lease.lease_ms >= 1 && lease.lease_ms <= ENGINE_LEASE_MAX_MS);
}

static void try_one(struct json object, enum engine_release_kind kind, struct arena *arena) {
    struct engine_release release;
    struct err err = {STATUS_OK, ""};
    enum status status = lease_json_parse_one(object, kind, BYTES("l"), now, arena, &release, &err);
    FUZZ_CHECK(status == STATUS_OK || err.text[0]);
    FUZZ_CHECK(release.kind == kind && bytes_is(release.lease, "l"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct json object;
    struct arena arena;
    if (json_parse(fuzz_text(data, size), &object, NULL) != STATUS_OK || object.type != JSON_OBJECT)
        return 0;
    arena_init_heap(&arena, 1024);
    try_ask(object, &arena);
    for (int kind = RELEASE_ACK; kind <= RELEASE_EXTEND; kind++)
        try_one(object, (enum engine_release_kind)kind, &arena);
    try_bulk(object, &arena);
    arena_free(&arena);
    return 0;
}
