/* selection_json: the members by which a request selects letters: filter, ids, group, all, limit
 * and order. The same for every bulk call. */
#ifndef SERVER_SELECTION_JSON_H
#define SERVER_SELECTION_JSON_H

#include "server/api/json/member.h"
#include "server/http/request.h"
#include "triage/query/selection.h"

/* The struct that member_read fills must begin with this. */
struct selection_json {
    struct selection *selection;
    struct wall now;
};

void selection_json_init(struct selection_json *choice, struct selection *selection,
                         struct request *request);

/* The walk ends when the client disconnects. */
void selection_json_may_leave(struct selection_json *choice, const struct request *request);

enum status selection_json_filter(void *into, struct json value, struct arena *arena,
                                  struct err *err);
enum status selection_json_ids(void *into, struct json value, struct arena *arena, struct err *err);
enum status selection_json_group(void *into, struct json value, struct arena *arena,
                                 struct err *err);
enum status selection_json_all(void *into, struct json value, struct arena *arena, struct err *err);
enum status selection_json_limit(void *into, struct json value, struct arena *arena,
                                 struct err *err);
enum status selection_json_order(void *into, struct json value, struct arena *arena,
                                 struct err *err);
enum status selection_json_cursor(void *into, struct json value, struct arena *arena,
                                  struct err *err);

/* Rows of a table of members. */
#define SELECTION_JSON_MEMBERS                                                                     \
    {"filter", selection_json_filter}, {"ids", selection_json_ids},                                \
        {"group", selection_json_group}, {"all", selection_json_all},                              \
        {"limit", selection_json_limit}, {                                                         \
        "order", selection_json_order                                                              \
    }

#endif
