/* response: see the header. */
#include "handler/http/response.h"

#include <assert.h>
#include <stdio.h>

#include "base/log.h"
#include "handler/http/ai_answer.h"
#include "handler/http/http_phrase.h"
#include "handler/http/problem_body.h"
#include "handler/http/retry_after.h"
#include "handler/common/foreign_text.h"

enum { STATUS_TOO_MANY_REQUESTS = 429 };

struct bytes response_header(const struct response *response, const char *name) {
    assert(name && (response->headers || response->header_count == 0));
    for (size_t i = 0; i < response->header_count; i++)
        if (bytes_eq_nocase(response->headers[i].name, bytes_of(name)))
            return bytes_trim(response->headers[i].value);
    return BYTES_NONE;
}

/* Rate-limit reset headers are on every answer; only after a 429 are they a reason to wait. */
static int64_t retry_after_ms(const struct response *response, const struct problem *problem,
                              int status, struct wall now) {
    int64_t ms = retry_after_headers(response->headers, response->header_count, now);
    if (ms < 0)
        ms = problem->retry_after_ms;
    if (ms < 0 && status == STATUS_TOO_MANY_REQUESTS)
        ms = retry_after_text(problem->error_message);
    if (ms < 0 && status == STATUS_TOO_MANY_REQUESTS)
        ms = retry_after_resets(response->headers, response->header_count, now);
    return ms;
}

static void read_verdict(const struct response *response, struct arena *arena,
                         struct outcome *out) {
    struct bytes word = response_header(response, "Impound-Verdict");
    if (word.len == 0)
        return;
    if (!verdict_parse(word, &out->verdict) || out->verdict == VERDICT_FALLBACK) {
        log_warn("Impound-Verdict: unknown verdict \"%.*s\", expected retry, dlq, discard or halt; "
                 "using the rules",
                 BYTES_ARG(bytes_clip(word, OUTCOME_TYPE_MAX)));
        return;
    }
    out->has_verdict = true;
    out->reason =
        bytes_clip(text_safe(response_header(response, "Impound-Reason"), arena), OUTCOME_TYPE_MAX);
}

/* Cloud services give the type only in a header: "ThrottlingException:http://…". */
static struct bytes header_type(const struct response *response, struct arena *arena) {
    static const char *const names[] = {"x-amzn-ErrorType", "x-ms-error-code"};
    struct bytes type = BYTES_NONE;
    for (size_t i = 0; i < sizeof names / sizeof *names && type.len == 0; i++)
        type = response_header(response, names[i]);
    type = bytes_cut(type, 0, bytes_find(type, BYTES(":")));
    return bytes_clip(text_safe(type, arena), OUTCOME_TYPE_MAX);
}

/* For an answer without a message. Numbers are masked in fingerprints: the phrase keeps a 503 and a
 * 400 apart. */
static struct bytes own_words(int status, struct arena *arena) {
    char text[64];
    const char *phrase = http_phrase(status);
    snprintf(text, sizeof text, "HTTP %d%s%s", status, phrase ? " " : "", phrase ? phrase : "");
    return arena_dup(arena, bytes_of(text));
}

/* Version and instance of the consumer that answered. */
static void read_consumer(const struct response *response, struct arena *arena,
                          struct outcome *out) {
    out->version = bytes_clip(text_safe(response_header(response, "Impound-Version"), arena),
                              OUTCOME_TYPE_MAX);
    out->instance = bytes_clip(text_safe(response_header(response, "Impound-Instance"), arena),
                               OUTCOME_TYPE_MAX);
}

static void fail(const struct response *response, const struct problem *problem, struct wall now,
                 struct arena *arena, struct outcome *out) {
    out->ending = ENDING_FAILED;
    out->retry_after_ms = retry_after_ms(response, problem, out->status, now);
    out->error_type = problem->error_type.len ? problem->error_type : header_type(response, arena);
    out->error_message = problem->error_message;
    out->stack_trace = problem->stack_trace;
    if (out->error_message.len == 0)
        out->error_message = own_words(out->status, arena);
}

static bool is_ai_fault(const struct response *response, struct arena *arena,
                        struct ai_answer *fault) {
    return response->reads_ai && response->status == 200 &&
           ai_answer_faulty(response->body, response->cut,
                            response_header(response, "Content-Type"), arena, fault);
}

void response_outcome(const struct response *response, struct wall now, struct arena *arena,
                      struct outcome *out) {
    *out = (struct outcome){
        .ending = ENDING_OK, .kind = KIND_STATUS, .status = response->status, .retry_after_ms = -1};
    read_verdict(response, arena, out);
    read_consumer(response, arena, out);
    if (response->status / 100 != 2 || out->has_verdict) {
        struct problem problem;
        problem_read(bytes_cut(response->body, 0, RESPONSE_PROBLEM_MAX), arena, &problem);
        fail(response, &problem, now, arena, out);
        return;
    }
    struct ai_answer fault;
    if (!is_ai_fault(response, arena, &fault))
        return;
    out->kind = KIND_ANSWER;
    out->status = fault.status ? fault.status : response->status;
    fail(response, &fault.problem, now, arena, out);
}
