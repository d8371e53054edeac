/* http_answer: what came back, and what it means as an outcome. */
#ifndef HANDLER_HTTP_ANSWER_H
#define HANDLER_HTTP_ANSWER_H

#include <curl/curl.h>

#include "base/arena.h"
#include "base/instant.h"
#include "core/outcome.h"

enum {
    HTTP_ANSWER_KEPT_MAX = 64 * 1024, /* bytes of an answer's body that are looked at */
    HTTP_ANSWER_DRAINED_MAX =
        1024 * 1024, /* bytes read to keep the connection; then it is dropped */
};

struct http_answer {
    struct buf body;
    bool wants_body; /* all of it, not just a look */
    size_t received;
    bool cut; /* we stopped reading: not the answer's fault */
    char error[CURL_ERROR_SIZE];
};

void http_answer_init(struct http_answer *answer);
/* For the next call, which wants all of the body or just a look at it; keeps the memory, unless it
 * is large. */
void http_answer_clear(struct http_answer *answer, bool wants_body);
void http_answer_free(struct http_answer *answer);
/* Makes the transfer write into `answer`. */
void http_answer_attach(struct http_answer *answer, CURL *easy);

/* Nothing was answered on a connection that had served before: the server may have closed it while
 * it was idle, and the message is not to blame. */
bool http_answer_stale(CURL *easy, CURLcode code);
/* Texts are borrowed from the answer, the transfer and the arena (heap). */
void http_answer_outcome(const struct http_answer *answer, CURL *easy, CURLcode code,
                         struct wall now, struct arena *arena, struct outcome *out);

#endif
