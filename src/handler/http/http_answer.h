/* http_answer: receives an answer and turns it into an outcome. */
#ifndef HANDLER_HTTP_HTTP_ANSWER_H
#define HANDLER_HTTP_HTTP_ANSWER_H

#include <curl/curl.h>

#include "base/arena.h"
#include "base/instant.h"
#include "handler/common/task.h"

enum {
    HTTP_ANSWER_KEPT_MAX = 64 * 1024,    /* bytes of an answer's body that are kept … */
    HTTP_ANSWER_BATCH_MAX = 1024 * 1024, /* … if it may list the items of a batch … */
    HTTP_ANSWER_WHOLE_MAX =
        OUTCOME_ANSWER_MAX +
        1, /* … and if the whole answer is wanted; one more than the limit, to detect larger ones */
    HTTP_ANSWER_DRAINED_MAX =
        1024 * 1024, /* bytes read in order to reuse the connection; beyond it is closed */
};

struct http_answer {
    struct buf body;
    size_t keep;   /* bytes of the body to keep */
    bool reads_ai; /* a 200 is checked as an AI provider's answer */
    size_t received;
    bool cut; /* we stopped reading; not an error of the answer */
    char error[CURL_ERROR_SIZE];
};

void http_answer_init(struct http_answer *answer);
/* Prepares for the next call; keeps the memory unless it is large. */
void http_answer_clear(struct http_answer *answer, size_t keep, bool reads_ai);
void http_answer_free(struct http_answer *answer);
/* Lets the transfer write into `answer`. */
void http_answer_attach(struct http_answer *answer, CURL *easy);

/* Sets the error text for a timeout after `ms` (CURLE_OPERATION_TIMEDOUT). */
void http_answer_overdue(struct http_answer *answer, int64_t ms);

/* No answer on a reused connection: the server may have closed it while it was idle, and the
 * message is not at fault. */
bool http_answer_stale(CURL *easy, CURLcode code);
/* A 2xx for a group: fills `items`, or makes *whole a failure. Texts are borrowed as below. */
void http_answer_items(const struct http_answer *answer, struct task task, struct arena *arena,
                       struct outcome *whole, struct outcome *items);
/* Texts are borrowed from the answer, the transfer and the arena (heap). */
void http_answer_outcome(const struct http_answer *answer, CURL *easy, CURLcode code,
                         struct wall now, struct arena *arena, struct outcome *out);

#endif
