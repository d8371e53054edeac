/* choice: the members by which a request says which letters it is about: filter, ids, group, all,
 * limit and order. The same for every bulk call. */
#ifndef SERVER_CHOICE_H
#define SERVER_CHOICE_H

#include "server/member.h"
#include "server/http/request.h"
#include "triage/selection.h"

/* What member_read fills must begin with this. */
struct choice {
    struct selection *selection;
    struct wall now;
};

void choice_init(struct choice *choice, struct selection *selection, struct request *request);

/* The walk ends when the client leaves. */
void choice_may_leave(struct choice *choice, const struct request *request);

enum status choice_filter(void *into, struct json value, struct arena *arena, struct err *err);
enum status choice_ids(void *into, struct json value, struct arena *arena, struct err *err);
enum status choice_group(void *into, struct json value, struct arena *arena, struct err *err);
enum status choice_all(void *into, struct json value, struct arena *arena, struct err *err);
enum status choice_limit(void *into, struct json value, struct arena *arena, struct err *err);
enum status choice_order(void *into, struct json value, struct arena *arena, struct err *err);
enum status choice_cursor(void *into, struct json value, struct arena *arena, struct err *err);

/* Rows of a table of members. */
#define CHOICE_MEMBERS                                                                             \
    {"filter", choice_filter}, {"ids", choice_ids}, {"group", choice_group}, {"all", choice_all},  \
        {"limit", choice_limit}, {                                                                 \
        "order", choice_order                                                                      \
    }

#endif
