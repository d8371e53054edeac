/* name_check: a queue or DLQ that a filter or a query parameter names must exist. Otherwise a
 * misspelt name would give an empty result, which looks like "nothing to do". */
#ifndef SERVER_NAME_CHECK_H
#define SERVER_NAME_CHECK_H

#include "server/http/request.h"
#include "triage/query/query.h"

/* True if the name is empty, or if it is in the configuration or the store: letters of a queue that
 * was removed from the configuration can still be selected. False: answered with 404 and a "did you
 * mean". Not on an engine thread. */
bool name_check_queue(struct request *request, struct bytes name);
bool name_check_dlq(struct request *request, struct bytes name);
/* Answers with 404 for a queue or a DLQ, with the nearest existing name. */
void name_check_no_queue(struct request *request, struct bytes name);
void name_check_no_dlq(struct request *request, struct bytes name);
/* Checks both names of a filter. */
bool name_check_filter(struct request *request, const struct query *query);

#endif
