/* decision_order: the request body of every call that decides about letters or waiting messages:
 * the selection (selection_json.h), "why", and "dry_run". */
#ifndef SERVER_DECISION_ORDER_H
#define SERVER_DECISION_ORDER_H

#include "server/api/json/selection_json.h"

struct decision_order {
    struct selection_json choice; /* fills the selection */
    struct selection selection;
    struct bytes why; /* may be empty with dry_run and WHY_OPTIONAL */
    bool dry_run;
};

enum decision_why {
    WHY_NEEDED,
    WHY_OPTIONAL, /* the whole body is optional, too */
};

/* Reads {"why"} only: the path has the id. False: the request has been answered. */
bool decision_order_read_one(struct request *request, enum decision_why why,
                             struct decision_order *out);
/* A selection within `scope`; its queue and DLQ names exist. A dry run ends when its client
 * disconnects; a change runs to its end. False: the request has been answered. */
bool decision_order_read_many(struct request *request, enum query_scope scope,
                              enum decision_why why, struct decision_order *out);

#endif
