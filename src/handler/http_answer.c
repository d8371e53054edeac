#include "handler/http_answer.h"

#include <stdio.h>

#include "base/log.h"
#include "handler/batch_answer.h"
#include "handler/http_phrase.h"
#include "handler/problem.h"
#include "handler/text.h"

/* What is in no row ended after a connection stood, without an answer that can be read: a reset. */
static const struct {
    CURLcode code;
    enum kind kind;
} kinds[] = {
    {CURLE_OPERATION_TIMEDOUT, KIND_TIMEOUT},   {CURLE_COULDNT_CONNECT, KIND_REFUSED},
    {CURLE_URL_MALFORMAT, KIND_REFUSED},        {CURLE_COULDNT_RESOLVE_HOST, KIND_DNS},
    {CURLE_COULDNT_RESOLVE_PROXY, KIND_DNS},    {CURLE_SSL_CONNECT_ERROR, KIND_TLS},
    {CURLE_PEER_FAILED_VERIFICATION, KIND_TLS}, {CURLE_SSL_CACERT_BADFILE, KIND_TLS},
    {CURLE_SSL_CERTPROBLEM, KIND_TLS},          {CURLE_SSL_CIPHER, KIND_TLS},
    {CURLE_SSL_ISSUER_ERROR, KIND_TLS},         {CURLE_SSL_INVALIDCERTSTATUS, KIND_TLS},
};

static enum kind kind_of(CURLcode code) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].code == code)
            return kinds[i].kind;
    }
    return KIND_RESET;
}

void http_answer_init(struct http_answer *answer) {
    *answer = (struct http_answer){0};
    buf_init_heap(&answer->body, HTTP_ANSWER_WHOLE_MAX);
}

void http_answer_clear(struct http_answer *answer, size_t keep) {
    if (answer->body.cap > HTTP_ANSWER_KEPT_MAX)
        buf_free(&answer->body);
    buf_clear(&answer->body);
    answer->keep = keep;
    answer->received = 0;
    answer->cut = false;
    answer->error[0] = '\0';
}

void http_answer_free(struct http_answer *answer) {
    buf_free(&answer->body);
}

static size_t on_body(char *data, size_t size, size_t count, void *arg) {
    struct http_answer *answer = arg;
    size_t len = size * count;
    size_t room = answer->keep - answer->body.len;
    buf_put(&answer->body, data, len < room ? len : room);
    answer->received += len;
    answer->cut = len >= room && answer->received > HTTP_ANSWER_DRAINED_MAX;
    return answer->cut ? 0 : len;
}

void http_answer_attach(struct http_answer *answer, CURL *easy) {
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, answer);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, answer->error);
}

void http_answer_overdue(struct http_answer *answer, int64_t ms) {
    struct buf text;
    buf_init_fixed(&text, answer->error, sizeof answer->error);
    buf_str(&text, "no whole answer within ");
    duration_put(&text, ms);
    buf_cstr(&text);
}

static long number_of(CURL *easy, CURLINFO info) {
    long value = 0;
    curl_easy_getinfo(easy, info, &value);
    return value;
}

bool http_answer_stale(CURL *easy, CURLcode code) {
    return kind_of(code) == KIND_RESET && code != CURLE_OK &&
           number_of(easy, CURLINFO_NUM_CONNECTS) == 0 &&
           number_of(easy, CURLINFO_HEADER_SIZE) == 0;
}

static struct bytes header_of(CURL *easy, const char *name) {
    struct curl_header *header;
    if (curl_easy_header(easy, name, 0, CURLH_HEADER, -1, &header) != CURLHE_OK)
        return BYTES_NONE;
    return bytes_trim(bytes_of(header->value));
}

static int64_t whole_ms(struct bytes text, int64_t unit_ms) {
    uint64_t count;
    if (!bytes_u64(text, &count))
        return -1;
    return count < (uint64_t)(INT64_MAX / unit_ms) ? (int64_t)count * unit_ms : INT64_MAX;
}

/* Some providers give milliseconds, beside it or in its place: the finer word wins. */
static int64_t retry_after_ms(CURL *easy, struct wall now) {
    static const char *const fine[] = {"retry-after-ms", "x-ms-retry-after-ms"};
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        int64_t ms = whole_ms(header_of(easy, fine[i]), 1);
        if (ms >= 0)
            return ms;
    }
    struct bytes text = header_of(easy, "Retry-After");
    int64_t ms = whole_ms(text, 1000);
    if (ms >= 0)
        return ms;
    struct wall at;
    if (!wall_parse_http(text, &at))
        return -1;
    return at.ms > now.ms ? at.ms - now.ms : 0;
}

static void read_verdict(CURL *easy, struct arena *arena, struct outcome *out) {
    struct bytes word = header_of(easy, "Impound-Verdict");
    if (word.len == 0)
        return;
    if (!verdict_parse(word, &out->verdict) || out->verdict == VERDICT_FALLBACK) {
        log_warn("Impound-Verdict: %.*s is none of retry, dlq, discard, halt; the rules decide",
                 BYTES_ARG(bytes_clip(word, OUTCOME_TYPE_MAX)));
        return;
    }
    out->has_verdict = true;
    out->reason = bytes_clip(text_safe(header_of(easy, "Impound-Reason"), arena), OUTCOME_TYPE_MAX);
}

/* Clouds name the type in a header, and only there: "ThrottlingException:http://…". */
static struct bytes header_type(CURL *easy, struct arena *arena) {
    static const char *const names[] = {"x-amzn-ErrorType", "x-ms-error-code"};
    struct bytes type = BYTES_NONE;
    for (size_t i = 0; i < sizeof names / sizeof *names && type.len == 0; i++)
        type = header_of(easy, names[i]);
    type = bytes_cut(type, 0, bytes_find(type, BYTES(":")));
    return bytes_clip(text_safe(type, arena), OUTCOME_TYPE_MAX);
}

/* For an answer without words. Numbers are masked in a fingerprint: the phrase keeps a 503 and a
 * 400 apart. */
static struct bytes own_words(int status, struct arena *arena) {
    char text[64];
    const char *phrase = http_phrase(status);
    snprintf(text, sizeof text, "HTTP %d%s%s", status, phrase ? " " : "", phrase ? phrase : "");
    return arena_dup(arena, bytes_of(text));
}

/* Which release of the consumer answered, and which of its processes. */
static void read_consumer(CURL *easy, struct arena *arena, struct outcome *out) {
    out->version =
        bytes_clip(text_safe(header_of(easy, "Impound-Version"), arena), OUTCOME_TYPE_MAX);
    out->instance =
        bytes_clip(text_safe(header_of(easy, "Impound-Instance"), arena), OUTCOME_TYPE_MAX);
}

static void read_status(const struct http_answer *answer, CURL *easy, struct wall now,
                        struct arena *arena, struct outcome *out) {
    out->kind = KIND_STATUS;
    out->status = (int)number_of(easy, CURLINFO_RESPONSE_CODE);
    read_verdict(easy, arena, out);
    read_consumer(easy, arena, out);
    if (out->status / 100 == 2 && !out->has_verdict) {
        out->ending = ENDING_OK;
        if (answer->keep == HTTP_ANSWER_WHOLE_MAX) {
            out->answer = buf_view(&answer->body);
            out->answer_type = header_of(easy, "Content-Type");
        }
        return;
    }
    out->retry_after_ms = retry_after_ms(easy, now);
    struct problem problem;
    problem_read(bytes_cut(buf_view(&answer->body), 0, HTTP_ANSWER_KEPT_MAX), arena, &problem);
    out->error_type = problem.error_type.len ? problem.error_type : header_type(easy, arena);
    out->error_message = problem.error_message;
    out->stack_trace = problem.stack_trace;
    if (out->retry_after_ms < 0)
        out->retry_after_ms = problem.retry_after_ms;
    if (out->error_message.len == 0)
        out->error_message = own_words(out->status, arena);
}

/* A refusal whose body broke off is still that refusal; a 2xx that broke off promises nothing. */
static bool is_answered(const struct http_answer *answer, CURL *easy, CURLcode code) {
    if (code == CURLE_OK || (answer->cut && code == CURLE_WRITE_ERROR))
        return true;
    return kind_of(code) == KIND_RESET && number_of(easy, CURLINFO_RESPONSE_CODE) >= 300;
}

void http_answer_outcome(const struct http_answer *answer, CURL *easy, CURLcode code,
                         struct wall now, struct arena *arena, struct outcome *out) {
    *out = (struct outcome){.ending = ENDING_FAILED, .retry_after_ms = -1};
    if (is_answered(answer, easy, code)) {
        read_status(answer, easy, now, arena, out);
        return;
    }
    out->kind = kind_of(code);
    const char *text = answer->error[0] ? answer->error : curl_easy_strerror(code);
    if (code == CURLE_ABORTED_BY_CALLBACK) /* the request was not sent a second time */
        text = "connection closed without an answer";
    out->error_message = bytes_clip(text_safe(bytes_of(text), arena), OUTCOME_MESSAGE_MAX);
}

/* Of a list that was not read to its end nobody knows what else it says. */
void http_answer_items(const struct http_answer *answer, struct task task, struct arena *arena,
                       struct outcome *whole, struct outcome *items) {
    if (answer->received > answer->keep ||
        !batch_answer_parse(buf_view(&answer->body), task, arena, items))
        batch_answer_distrust(whole);
}
