/* lease_json: what workers send about leases (DESIGN §6), read and checked. Pure. */
#ifndef SERVER_LEASE_JSON_H
#define SERVER_LEASE_JSON_H

#include "base/json/json.h"
#include "engine/engine.h"

enum {
    LEASE_JSON_MAX = 1,
    LEASE_JSON_WAIT_MS = 0,
    LEASE_JSON_LEASE_MS = 30 * 1000
}; /* unless given */

/* {"max","wait_ms","lease_ms"}, all optional. INVALID: what is wrong. */
enum status lease_json_parse_ask(struct json object, struct arena *arena, struct engine_lease *out,
                                 struct err *err);

/* The body of one ack, fail or extend; `lease` came with the path. Texts live in the arena or in
 * the object. INVALID. */
enum status lease_json_parse_one(struct json object, enum engine_release_kind kind,
                                 struct bytes lease, struct wall now, struct arena *arena,
                                 struct engine_release *out, struct err *err);

/* {"ack":[…],"fail":[…],"extend":[…]}, in that order; an item is a lease, or an object with it and
 * what its single call takes. INVALID, with the item's place; more than ENGINE_LEASE_MESSAGES_MAX
 * items are. */
enum status lease_json_parse_bulk(struct json object, struct wall now, struct arena *arena,
                                  struct engine_release **out, size_t *count, struct err *err);

#endif
