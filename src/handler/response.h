/* response: what an HTTP response means as an outcome. Pure. */
#ifndef HANDLER_RESPONSE_H
#define HANDLER_RESPONSE_H

#include "base/arena.h"
#include "base/instant.h"
#include "core/outcome.h"
#include "core/rule.h"

enum {
    RESPONSE_PROBLEM_MAX = 64 * 1024, /* bytes of a failure's body that are looked at */
    RESPONSE_HEADERS_MAX = 128,       /* headers that are looked at */
};

struct response {
    int status;
    const struct rule_header *headers;
    size_t header_count;
    struct bytes body; /* its beginning, where it is too long to be kept … */
    bool cut;          /* … which this tells */
    bool reads_ai;     /* a 200 is looked at as the answer of an AI provider (ai_answer.h) */
};

/* The header's value without surrounding white space; the first one of that name. */
struct bytes response_header(const struct response *response, const char *name);
/* Everything but `answer` and `duration_ms`. Texts are borrowed from the response and the arena
 * (heap). */
void response_outcome(const struct response *response, struct wall now, struct arena *arena,
                      struct outcome *out);

#endif
