/* lease_json: reads and checks workers' requests about leases (DESIGN §6). Pure. */
#ifndef SERVER_LEASE_JSON_H
#define SERVER_LEASE_JSON_H

#include "base/json/json.h"
#include "engine/engine.h"

enum { LEASE_JSON_MAX = 1, LEASE_JSON_WAIT_MS = 0, LEASE_JSON_LEASE_MS = 30 * 1000 }; /* default */

/* {"max","wait_ms","lease_ms"}, all optional. INVALID: err has the reason. */
enum status lease_json_parse_ask(struct json object, struct arena *arena, struct engine_lease *out,
                                 struct err *err);

/* The body of one ack, fail or extend; `lease` is from the path. Texts live in the arena or in the
 * object. INVALID. */
enum status lease_json_parse_one(struct json object, enum engine_release_kind kind,
                                 struct bytes lease, struct wall now, struct arena *arena,
                                 struct engine_release *out, struct err *err);

/* {"ack":[…],"fail":[…],"extend":[…]}, in that order; an item is a lease, or an object with a lease
 * and the members of the single call. INVALID, with the item's position; also for more than
 * ENGINE_LEASE_MESSAGES_MAX items. */
enum status lease_json_parse_bulk(struct json object, struct wall now, struct arena *arena,
                                  struct engine_release **out, size_t *count, struct err *err);

#endif
