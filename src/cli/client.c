/* client: HTTP calls with libcurl, each sent at most once. */
#include "cli/client.h"

#include <assert.h>
#include <curl/curl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/view/field.h"

/* Lists wait at most 2 s, and a push for one commit; only a stuck store takes longer. */
enum {
    ACTOR_MAX = 256,
    CONNECT_MS = 5000,
    ANSWER_MS = 120 * 1000,
    FETCH_MS = 3600 * 1000, /* the server writes all of it to a file before it answers */
    FETCH_REFUSAL_MAX = 1 << 20,
    URL_MAX = 128 * 1024,
    PROBLEM_ARENA = 4096
};

struct client {
    CURL *curl;
    char actor[ACTOR_MAX]; /* a header: the user, for the audit log */
    char *url;             /* without a slash at its end */
    struct buf address;
    size_t refused_line;
    char trouble[CURL_ERROR_SIZE];
};

/* The destination of an answer: memory, or a file unless it is a problem document. */
struct receipt {
    CURL *curl;
    struct buf *answer;
    FILE *into;
    struct progress *progress;
    uint64_t taken;
};

static bool is_good(CURL *curl) {
    long http = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &http);
    return http >= 200 && http <= 299;
}

static size_t write_file(struct receipt *receipt, const char *data, size_t len) {
    curl_off_t total = 0;
    if (receipt->taken == 0 &&
        curl_easy_getinfo(receipt->curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &total) == CURLE_OK &&
        total > 0)
        receipt->progress->total = (uint64_t)total;
    receipt->taken += len;
    progress_show(receipt->progress, receipt->taken, "");
    return fwrite(data, 1, len, receipt->into);
}

static size_t receive(char *data, size_t size, size_t count, void *arg) {
    struct receipt *receipt = arg;
    if (receipt->into && is_good(receipt->curl))
        return write_file(receipt, data, size * count);
    buf_put(receipt->answer, data, size * count);
    return receipt->answer->overflow ? 0 : size * count;
}

/* The user's login name. */
static void name_actor(char actor[ACTOR_MAX]) {
    const struct passwd *user = getpwuid(geteuid());
    if (user)
        snprintf(actor, ACTOR_MAX, "Impound-Actor: %s", user->pw_name);
    else
        snprintf(actor, ACTOR_MAX, "Impound-Actor: uid %lu", (unsigned long)geteuid());
}

struct client *client_new(const char *url) {
    assert(url);
    struct client *client = memory_new(sizeof *client);
    client->curl = curl_easy_init();
    assert(client->curl);
    size_t len = strlen(url);
    while (len > 0 && url[len - 1] == '/')
        len--;
    client->url = bytes_dup((struct bytes){url, len});
    buf_init_heap(&client->address, URL_MAX);
    name_actor(client->actor);
    CURL *curl = client->curl;
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L); /* an id may be ".." */
    curl_easy_setopt(curl, CURLOPT_PROXY, ""); /* no proxy: the server is on the local network */
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, client->trouble);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
    return client;
}

void client_free(struct client *client) {
    if (!client)
        return;
    curl_easy_cleanup(client->curl);
    buf_free(&client->address);
    free(client->url);
    free(client);
}

static struct curl_slist *set_call(struct client *client, const struct client_call *call,
                                   const char *method) {
    struct curl_slist *headers = curl_slist_append(NULL, "Accept: application/json");
    CURL *curl = client->curl;
    curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L);
    /* A fresh connection: on a reused one libcurl repeats a request without an answer by itself. */
    curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, call->body.ptr ? 1L : 0L);
    if (call->body.ptr) {
        char type[128];
        snprintf(type, sizeof type, "Content-Type: %s", call->content_type);
        headers = curl_slist_append(headers, type);
        headers = curl_slist_append(headers, client->actor);
        headers = curl_slist_append(headers, "Expect:"); /* no 100-continue round trip */
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.len);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, call->body.ptr);
    }
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    return headers;
}

static enum status no_answer(const struct client *client, CURLcode code, struct err *err) {
    const char *why = client->trouble[0] ? client->trouble : curl_easy_strerror(code);
    if (code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL)
        return err_set(err, STATUS_USAGE, "\"%s\" is not an http:// or https:// URL", client->url);
    if (code == CURLE_WRITE_ERROR)
        return err_set(err, STATUS_INVALID,
                       "the answer could not be written, or is larger than can be taken");
    return err_set(err, STATUS_UNREACHABLE,
                   "cannot reach impound at %s: %s; is `impound serve` running?", client->url, why);
}

/* The detail of a problem document, or only the status. */
static enum status refused(struct client *client, long http, struct bytes answer, struct err *err) {
    enum status status = http == 404 ? STATUS_NOT_FOUND : STATUS_INVALID;
    struct json problem;
    struct bytes detail = BYTES("");
    struct arena arena;
    int64_t line = 0;
    arena_init_heap(&arena, PROBLEM_ARENA);
    if (json_parse(answer, &problem, NULL) == STATUS_OK) {
        detail = field_text(problem, "detail", &arena);
        if (detail.len == 0)
            detail = field_text(problem, "title", &arena);
        if (json_i64(field_at(problem, "line"), &line) && line > 0)
            client->refused_line = (size_t)line;
    }
    if (detail.len > 0)
        err_set(err, status, "%.*s", BYTES_ARG(detail));
    else
        err_set(err, status, "%s answered with status %ld", client->url, http);
    arena_free(&arena);
    return status;
}

static enum status judge(struct client *client, const struct receipt *receipt, struct err *err) {
    long http = 0;
    struct json json;
    curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &http);
    if (!is_good(client->curl))
        return refused(client, http, buf_view(receipt->answer), err);
    if (!receipt->into && json_parse(buf_view(receipt->answer), &json, err) != STATUS_OK)
        return err_set(err, STATUS_INVALID, "%s does not answer in JSON; is it impound?",
                       client->url);
    return STATUS_OK;
}

/* `method`: NULL: POST with a body, otherwise GET. */
static enum status perform(struct client *client, const struct client_call *call,
                           const char *method, struct receipt *receipt, struct err *err) {
    client->refused_line = 0;
    client->trouble[0] = '\0';
    buf_clear(receipt->answer);
    buf_clear(&client->address);
    buf_str(&client->address, client->url);
    buf_str(&client->address, call->path);
    if (client->address.overflow || !call->path[0])
        return err_set(err, STATUS_USAGE, "the arguments are too long for a URL");
    struct curl_slist *headers = set_call(client, call, method);
    curl_easy_setopt(client->curl, CURLOPT_URL, buf_cstr(&client->address));
    curl_easy_setopt(client->curl, CURLOPT_WRITEDATA, receipt);
    curl_easy_setopt(client->curl, CURLOPT_TIMEOUT_MS,
                     receipt->into ? (long)FETCH_MS : (long)ANSWER_MS);
    CURLcode code = curl_easy_perform(client->curl);
    curl_slist_free_all(headers);
    return code == CURLE_OK ? judge(client, receipt, err) : no_answer(client, code, err);
}

enum status client_send(struct client *client, const struct client_call *call, struct buf *answer,
                        struct err *err) {
    struct receipt receipt = {.curl = client->curl, .answer = answer};
    return perform(client, call, NULL, &receipt, err);
}

enum status client_patch(struct client *client, const struct client_call *call, struct buf *answer,
                         struct err *err) {
    struct receipt receipt = {.curl = client->curl, .answer = answer};
    return perform(client, call, "PATCH", &receipt, err);
}

enum status client_fetch(struct client *client, const struct client_call *call, FILE *into,
                         struct progress *progress, struct err *err) {
    struct buf refusal;
    buf_init_heap(&refusal, FETCH_REFUSAL_MAX);
    struct receipt receipt = {
        .curl = client->curl, .answer = &refusal, .into = into, .progress = progress};
    enum status status = perform(client, call, NULL, &receipt, err);
    buf_free(&refusal);
    return status;
}

static uint64_t count_in(const struct client *client, const char *name) {
    struct curl_header *header;
    uint64_t count = 0;
    if (curl_easy_header(client->curl, name, 0, CURLH_HEADER, -1, &header) == CURLHE_OK)
        bytes_u64(bytes_of(header->value), &count);
    return count;
}

uint64_t client_skipped(const struct client *client) {
    return count_in(client, "Impound-Skipped");
}

uint64_t client_damaged(const struct client *client) {
    return count_in(client, "Impound-Damaged");
}

size_t client_refused_line(const struct client *client) {
    return client->refused_line;
}
