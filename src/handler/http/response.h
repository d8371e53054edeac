/* response: turns an HTTP response into an outcome. Pure. */
#ifndef HANDLER_HTTP_RESPONSE_H
#define HANDLER_HTTP_RESPONSE_H

#include "base/arena.h"
#include "base/instant.h"
#include "core/outcome.h"
#include "core/rule.h"

enum {
    RESPONSE_PROBLEM_MAX = 64 * 1024, /* bytes of a failure's body that are read */
    RESPONSE_HEADERS_MAX = 128,       /* headers that are read */
};

struct response {
    int status;
    const struct rule_header *headers;
    size_t header_count;
    struct bytes body; /* only its beginning, if it is too long … */
    bool cut;          /* … then this is set */
    bool reads_ai;     /* a 200 is checked as an AI provider's answer (ai_answer.h) */
};

/* The first header of that name, trimmed. */
struct bytes response_header(const struct response *response, const char *name);
/* Sets everything except `answer` and `duration_ms`. Texts are borrowed from the response and the
 * arena (heap). */
void response_outcome(const struct response *response, struct wall now, struct arena *arena,
                      struct outcome *out);

#endif
