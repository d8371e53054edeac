/* http_answer: what came back, and what it means as an outcome. */
#ifndef HANDLER_HTTP_ANSWER_H
#define HANDLER_HTTP_ANSWER_H

#include <curl/curl.h>

#include "base/arena.h"
#include "base/instant.h"
#include "handler/task.h"

enum {
    HTTP_ANSWER_KEPT_MAX = 64 * 1024,    /* bytes of an answer's body that are looked at … */
    HTTP_ANSWER_BATCH_MAX = 1024 * 1024, /* … where it may list the items of a batch … */
    HTTP_ANSWER_WHOLE_MAX = OUTCOME_ANSWER_MAX + 1, /* … and where all of it is wanted; the last
                                                     * one shows that it is too large */
    HTTP_ANSWER_DRAINED_MAX =
        1024 * 1024, /* bytes read to keep the connection; then it is dropped */
};

struct http_answer {
    struct buf body;
    size_t keep;   /* bytes of the body */
    bool reads_ai; /* a 200 is looked at as the answer of an AI provider */
    size_t received;
    bool cut; /* we stopped reading: not the answer's fault */
    char error[CURL_ERROR_SIZE];
};

void http_answer_init(struct http_answer *answer);
/* For the next call, of whose answer so many bytes are kept; keeps the memory, unless it is large.
 */
void http_answer_clear(struct http_answer *answer, size_t keep, bool reads_ai);
void http_answer_free(struct http_answer *answer);
/* Makes the transfer write into `answer`. */
void http_answer_attach(struct http_answer *answer, CURL *easy);

/* Says that there was none, or not all of it, within `ms`: for CURLE_OPERATION_TIMEDOUT. */
void http_answer_overdue(struct http_answer *answer, int64_t ms);

/* Nothing was answered on a connection that had served before: the server may have closed it while
 * it was idle, and the message is not to blame. */
bool http_answer_stale(CURL *easy, CURLcode code);
/* A 2xx to a group: `items` gets what it says of each, or *whole becomes a failure. Texts are
 * borrowed as below. */
void http_answer_items(const struct http_answer *answer, struct task task, struct arena *arena,
                       struct outcome *whole, struct outcome *items);
/* Texts are borrowed from the answer, the transfer and the arena (heap). */
void http_answer_outcome(const struct http_answer *answer, CURL *easy, CURLcode code,
                         struct wall now, struct arena *arena, struct outcome *out);

#endif
