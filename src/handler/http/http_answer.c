/* http_answer: see the header. */
#include "handler/http/http_answer.h"

#include <assert.h>

#include "handler/common/batch_answer.h"
#include "handler/http/response.h"
#include "handler/common/foreign_text.h"

/* Other codes mean that the connection was established, but no usable answer came: a reset. */
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

void http_answer_clear(struct http_answer *answer, size_t keep, bool reads_ai) {
    if (answer->body.cap > HTTP_ANSWER_KEPT_MAX)
        buf_free(&answer->body);
    buf_clear(&answer->body);
    answer->keep = keep;
    answer->reads_ai = reads_ai;
    answer->received = 0;
    answer->cut = false;
    answer->error[0] = '\0';
}

void http_answer_free(struct http_answer *answer) {
    buf_free(&answer->body);
}

static size_t on_body(char *data, size_t size, size_t count, void *arg) {
    struct http_answer *answer = arg;
    assert(answer->body.len <= answer->keep);
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

/* At most RESPONSE_HEADERS_MAX headers. */
static size_t collect_headers(CURL *easy, struct arena *arena, struct rule_header **out) {
    struct rule_header *headers = arena_alloc(arena, RESPONSE_HEADERS_MAX * sizeof *headers);
    size_t count = 0;
    struct curl_header *header = NULL;
    while (count < RESPONSE_HEADERS_MAX &&
           (header = curl_easy_nextheader(easy, CURLH_HEADER, -1, header)))
        headers[count++] = (struct rule_header){arena_dup(arena, bytes_of(header->name)),
                                                arena_dup(arena, bytes_of(header->value))};
    *out = headers;
    return count;
}

static bool has_header(CURL *easy, const char *name) {
    struct curl_header *header;
    return curl_easy_header(easy, name, 0, CURLH_HEADER, -1, &header) == CURLHE_OK;
}

/* A 2xx without special headers, of which no answer is wanted: the common case. */
static bool is_plain_success(const struct http_answer *answer, CURL *easy) {
    return number_of(easy, CURLINFO_RESPONSE_CODE) / 100 == 2 &&
           answer->keep != HTTP_ANSWER_WHOLE_MAX && !has_header(easy, "Impound-Verdict") &&
           !has_header(easy, "Impound-Version") && !has_header(easy, "Impound-Instance");
}

/* If the whole answer is wanted, every 2xx is passed on with it, even one that is not a success. */
static void read_response(const struct http_answer *answer, CURL *easy, struct wall now,
                          struct arena *arena, struct outcome *out) {
    struct rule_header *headers;
    if (is_plain_success(answer, easy)) {
        *out = (struct outcome){.ending = ENDING_OK,
                                .kind = KIND_STATUS,
                                .status = (int)number_of(easy, CURLINFO_RESPONSE_CODE),
                                .retry_after_ms = -1};
        return;
    }
    size_t count = collect_headers(easy, arena, &headers);
    struct response response = {.status = (int)number_of(easy, CURLINFO_RESPONSE_CODE),
                                .headers = headers,
                                .header_count = count,
                                .body = buf_view(&answer->body),
                                .cut = answer->received > OUTCOME_ANSWER_MAX,
                                .reads_ai = answer->reads_ai};
    response_outcome(&response, now, arena, out);
    if (response.status / 100 != 2 || out->has_verdict || answer->keep != HTTP_ANSWER_WHOLE_MAX)
        return;
    out->answer = response.body;
    out->answer_type = response_header(&response, "Content-Type");
    out->answer_headers = headers;
    out->answer_header_count = count;
    out->answer_status = response.status;
}

/* An error status with a truncated body still counts; a truncated 2xx does not. */
static bool is_answered(const struct http_answer *answer, CURL *easy, CURLcode code) {
    if (code == CURLE_OK || (answer->cut && code == CURLE_WRITE_ERROR))
        return true;
    return kind_of(code) == KIND_RESET && number_of(easy, CURLINFO_RESPONSE_CODE) >= 300;
}

void http_answer_outcome(const struct http_answer *answer, CURL *easy, CURLcode code,
                         struct wall now, struct arena *arena, struct outcome *out) {
    *out = (struct outcome){.ending = ENDING_FAILED, .retry_after_ms = -1};
    if (is_answered(answer, easy, code)) {
        read_response(answer, easy, now, arena, out);
        return;
    }
    out->kind = kind_of(code);
    const char *text = answer->error[0] ? answer->error : curl_easy_strerror(code);
    if (code == CURLE_ABORTED_BY_CALLBACK) /* before_send refused to send the request twice */
        text = "connection closed without an answer";
    out->error_message = bytes_clip(text_safe(bytes_of(text), arena), OUTCOME_MESSAGE_MAX);
}

/* A truncated list cannot be trusted. */
void http_answer_items(const struct http_answer *answer, struct task task, struct arena *arena,
                       struct outcome *whole, struct outcome *items) {
    assert(task.group);
    if (answer->received > answer->keep ||
        !batch_answer_parse(buf_view(&answer->body), task, arena, items))
        batch_answer_distrust(whole);
}
