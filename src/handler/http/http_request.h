/* http_request: the headers of a request, and the body of one with several messages. A message's
 * headers are untrusted: nothing in them may end a line, frame the request, or pass for a header of
 * ours. */
#ifndef HANDLER_HTTP_HTTP_REQUEST_H
#define HANDLER_HTTP_HTTP_REQUEST_H

#include <curl/curl.h>

#include "base/buf.h"
#include "handler/common/task.h"

/* Our headers, then the message's own, then `fixed`, which override the message's. A header that
 * cannot be sent is left out; for several messages the headers are in the body. Free with
 * curl_slist_free_all. */
struct curl_slist *http_request_headers(struct task task, const struct rule_header *fixed,
                                        size_t fixed_count);
/* A JSON array of the group's messages (item.h). */
void http_request_put_group(const struct call_group *group, struct buf *out);

#endif
