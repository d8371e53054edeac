/* http_request: the headers of one request, and the body of one that carries several messages. A
 * message's headers are a stranger's words, so nothing in them may end a line, frame the request,
 * or pass for a header of ours. */
#ifndef HANDLER_HTTP_REQUEST_H
#define HANDLER_HTTP_REQUEST_H

#include <curl/curl.h>

#include "base/buf.h"
#include "handler/task.h"

/* Ours, then the message's own, then `fixed`, which win over the message's. What cannot be sent as
 * a header is left out; of several messages the headers stand in the body. The caller frees it with
 * curl_slist_free_all. */
struct curl_slist *http_request_headers(struct task task, const struct rule_header *fixed,
                                        size_t fixed_count);
/* A JSON array of the group's messages (item.h). */
void http_request_put_group(const struct call_group *group, struct buf *out);

#endif
