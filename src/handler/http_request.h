/* http_request: the headers of one call. A message's headers are a stranger's words, so nothing in
 * them may end a line, frame the request, or pass for a header of ours. */
#ifndef HANDLER_HTTP_REQUEST_H
#define HANDLER_HTTP_REQUEST_H

#include <curl/curl.h>

#include "port/handler.h"

/* Ours, then the message's own, then `fixed`, which win over the message's. What cannot be sent as
 * a header is left out. The caller frees it with curl_slist_free_all. */
struct curl_slist *http_request_headers(const struct call *call, const struct rule_header *fixed,
                                        size_t fixed_count);

#endif
