#include "cli/client.h"

#include <assert.h>
#include <curl/curl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/field.h"

/* Lists wait at most 2 s and a push for one commit; only a store that is stuck takes longer. */
enum {
    ACTOR_MAX = 256,
    CONNECT_MS = 5000,
    ANSWER_MS = 120 * 1000,
    URL_MAX = 128 * 1024,
    PROBLEM_ARENA = 4096
};

struct client {
    CURL *curl;
    char actor[ACTOR_MAX]; /* a header: who changes things, for the audit */
    char *url;             /* without a slash at its end */
    struct buf address;
    size_t refused_line;
    char trouble[CURL_ERROR_SIZE];
};

static size_t receive(char *data, size_t size, size_t count, void *arg) {
    struct buf *answer = arg;
    buf_put(answer, data, size * count);
    return answer->overflow ? 0 : size * count;
}

/* The name that the system knows this user by. */
static void name_actor(char actor[ACTOR_MAX]) {
    const struct passwd *user = getpwuid(geteuid());
    if (user)
        snprintf(actor, ACTOR_MAX, "Impound-Actor: %s", user->pw_name);
    else
        snprintf(actor, ACTOR_MAX, "Impound-Actor: uid %lu", (unsigned long)geteuid());
}

struct client *client_new(const char *url) {
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
    curl_easy_setopt(curl, CURLOPT_PROXY, ""); /* the server is near: directly, or not at all */
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)ANSWER_MS);
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

static struct curl_slist *set_call(struct client *client, const struct client_call *call) {
    struct curl_slist *headers = curl_slist_append(NULL, "Accept: application/json");
    CURL *curl = client->curl;
    curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L);
    /* On a connection that was used before, libcurl sends again by itself what got no answer. */
    curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, call->body.ptr ? 1L : 0L);
    if (call->body.ptr) {
        char type[128];
        snprintf(type, sizeof type, "Content-Type: %s", call->content_type);
        headers = curl_slist_append(headers, type);
        headers = curl_slist_append(headers, client->actor);
        headers = curl_slist_append(headers, "Expect:"); /* no round trip to ask first */
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.len);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, call->body.ptr);
    }
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    return headers;
}

static enum status no_answer(const struct client *client, CURLcode code, struct err *err) {
    const char *why = client->trouble[0] ? client->trouble : curl_easy_strerror(code);
    if (code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL)
        return err_set(err, STATUS_USAGE, "\"%s\" is no http:// or https:// address of a server",
                       client->url);
    if (code == CURLE_WRITE_ERROR)
        return err_set(err, STATUS_INVALID, "the answer is larger than can be taken; ask for less");
    return err_set(err, STATUS_UNREACHABLE,
                   "cannot reach impound at %s: %s; is `impound serve` running?", client->url, why);
}

/* What a problem document says, or else the number alone. */
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

static enum status judge(struct client *client, const struct buf *answer, struct err *err) {
    long http = 0;
    struct json json;
    curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &http);
    if (http < 200 || http > 299)
        return refused(client, http, buf_view(answer), err);
    if (json_parse(buf_view(answer), &json, err) != STATUS_OK)
        return err_set(err, STATUS_INVALID, "%s does not answer in JSON; is it impound?",
                       client->url);
    return STATUS_OK;
}

enum status client_send(struct client *client, const struct client_call *call, struct buf *answer,
                        struct err *err) {
    client->refused_line = 0;
    client->trouble[0] = '\0';
    buf_clear(answer);
    buf_clear(&client->address);
    buf_str(&client->address, client->url);
    buf_str(&client->address, call->path);
    if (client->address.overflow || !call->path[0])
        return err_set(err, STATUS_USAGE, "what is asked for is too long for an address");
    struct curl_slist *headers = set_call(client, call);
    curl_easy_setopt(client->curl, CURLOPT_URL, buf_cstr(&client->address));
    curl_easy_setopt(client->curl, CURLOPT_WRITEDATA, answer);
    CURLcode code = curl_easy_perform(client->curl);
    curl_slist_free_all(headers);
    return code == CURLE_OK ? judge(client, answer, err) : no_answer(client, code, err);
}

size_t client_refused_line(const struct client *client) {
    return client->refused_line;
}
