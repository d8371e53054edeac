#include "broker/nats/nats_connection.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread/interrupt_timer.h"

enum {
    SERVER_TEXT_MAX = 512,
    SUBJECT_MAX = 1024,
    END_WAIT_MS = 1000, /* between two looks; the wakeup rings before */
    NUDGE_MS = 500,     /* after the library's own limit for a server */
};

/* ---- the end of something that the library runs ---- */

void nats_end_begin(struct nats_end *end) {
    atomic_store(&end->ended, false);
    atomic_store(&end->left, false);
}

void nats_end_tell(struct nats_end *end, struct wakeup *wakeup) {
    atomic_store(&end->ended, true);
    wakeup_ring(wakeup);
    atomic_store(&end->left, true);
}

void nats_end_await(struct nats_end *end, struct wakeup *wakeup) {
    while (!atomic_load(&end->ended))
        wakeup_wait(wakeup, -1, END_WAIT_MS);
    while (!atomic_load(&end->left))
        sched_yield();
}

/* ---- words ---- */

/* Texts for people; the library's own for other errors. */
static const struct {
    natsStatus status;
    const char *words;
} library_words[] = {
    {NATS_NO_SERVER, "connection refused, or unknown host"},
    {NATS_TIMEOUT, "the server does not answer"},
    {NATS_STALE_CONNECTION, "the server stopped answering"},
    {NATS_CONNECTION_CLOSED, "the connection broke"},
    {NATS_CONNECTION_DISCONNECTED, "the connection broke"},
    {NATS_IO_ERROR, "the connection broke"},
    {NATS_CONNECTION_AUTH_FAILED, "the user, password or credentials are refused"},
    {NATS_SECURE_CONNECTION_WANTED, "the server does not speak TLS: use nats://"},
    {NATS_SECURE_CONNECTION_REQUIRED, "the server requires TLS: use tls://"},
    {NATS_SSL_ERROR, "TLS failed; is the server's certificate trusted (ca=FILE)?"},
    {NATS_NO_RESPONDERS, "JetStream is not enabled on the server, or not for this account"},
};

static const char *words_of(natsStatus status) {
    for (size_t i = 0; i < sizeof library_words / sizeof *library_words; i++)
        if (library_words[i].status == status)
            return library_words[i].words;
    return natsStatus_GetText(status);
}

static enum status trouble(const struct nats_connection *connection, enum status status,
                           const char *doing, struct bytes words, struct err *err) {
    enum { WORDS_MAX = 300 };
    return err_set(err, status, "%.*s:%u: %s: %.*s", BYTES_ARG(connection->host->name),
                   connection->host->port, doing, BYTES_ARG(bytes_clip(words, WORDS_MAX)));
}

static bool failed(const struct nats_connection *connection, const char *doing, struct bytes words,
                   struct err *err) {
    trouble(connection, STATUS_UNREACHABLE, doing, words, err);
    return false;
}

bool nats_connection_did(struct nats_connection *connection, natsStatus status, const char *doing,
                         struct err *err) {
    return status == NATS_OK || failed(connection, doing, bytes_of(words_of(status)), err);
}

/* ---- opening ---- */

static natsStatus set_server(natsOptions *options, const struct url_host *host) {
    char memory[SERVER_TEXT_MAX];
    bool ipv6 = bytes_find(host->name, BYTES(":")) < host->name.len;
    struct buf text;
    buf_init_fixed(&text, memory, sizeof memory);
    buf_printf(&text, ipv6 ? "nats://[%.*s]:%u" : "nats://%.*s:%u", BYTES_ARG(host->name),
               host->port);
    return natsOptions_SetURL(options, buf_cstr(&text));
}

static natsStatus set_credentials(natsOptions *options, const struct nats_url *url) {
    if (url->creds_file.len)
        return natsOptions_SetUserCredentialsFromFiles(options, url->creds_file.ptr, NULL);
    if (url->user.len && url->password.ptr)
        return natsOptions_SetUserInfo(options, url->user.ptr, url->password.ptr);
    return url->user.len ? natsOptions_SetToken(options, url->user.ptr) : NATS_OK;
}

static natsStatus set_tls(natsOptions *options, const struct nats_url *url) {
    natsStatus status = natsOptions_SetSecure(options, url->tls);
    if (status == NATS_OK && url->ca_file.len)
        status = natsOptions_LoadCATrustedCertificates(options, url->ca_file.ptr);
    if (status == NATS_OK && url->cert_file.len)
        status = natsOptions_LoadCertificatesChain(options, url->cert_file.ptr, url->key_file.ptr);
    return status;
}

static void on_closed(natsConnection *nc, void *arg) {
    struct nats_connection *connection = arg;
    (void)nc;
    nats_end_tell(&connection->end, connection->wakeup);
}

/* The library does not reconnect: its user is told of the end, and paces the tries. Nor does it try
 * servers that the server announces: each host has its own time limit. */
static natsStatus set_manners(natsOptions *options, struct nats_connection *connection) {
    natsStatus status = natsOptions_SetTimeout(options, connection->wait_ms);
    if (status == NATS_OK)
        status = natsOptions_SetAllowReconnect(options, false);
    if (status == NATS_OK)
        status = natsOptions_SetIgnoreDiscoveredServers(options, true);
    if (status == NATS_OK)
        status = natsOptions_SetPingInterval(options, NATS_PING_MS);
    if (status == NATS_OK)
        status = natsOptions_SetMaxPingsOut(options, NATS_PINGS_MAX);
    if (status == NATS_OK)
        status = natsOptions_SetName(options, "impound");
    if (status == NATS_OK)
        status = natsOptions_SetClosedCB(options, on_closed, connection);
    return status;
}

static bool set_options(natsOptions *options, struct nats_connection *connection, struct err *err) {
    const struct nats_url *url = connection->url;
    if (!nats_connection_did(connection, set_manners(options, connection), "connect", err))
        return false;
    if (set_credentials(options, url) != NATS_OK)
        return failed(connection, "connect", BYTES("the credentials file cannot be read"), err);
    if (set_tls(options, url) != NATS_OK)
        return failed(connection, "connect", BYTES("a certificate file cannot be read"), err);
    return true;
}

/* The library has a time limit for everything but the TLS handshake, which any server may ask for;
 * an interrupted wait ends it with an error. */
static natsStatus connect_in_time(struct nats_connection *connection, natsOptions *options) {
    struct interrupt_timer nudge;
    natsStatus status = set_server(options, connection->host);
    if (status != NATS_OK)
        return status;
    interrupt_timer_begin(&nudge, connection->wait_ms + NUDGE_MS);
    status = natsConnection_Connect(&connection->nc, options);
    return interrupt_timer_end(&nudge) && status == NATS_SSL_ERROR ? NATS_TIMEOUT : status;
}

static void choose_next(struct nats_connection *connection) {
    const struct nats_url *url = connection->url;
    size_t next = connection->host ? (size_t)(connection->host - url->hosts) + 1 : 0;
    connection->host = &url->hosts[next % url->host_count];
}

static bool is_closing(const struct nats_connection *connection) {
    return connection->closing && atomic_load(connection->closing);
}

static bool try_hosts(struct nats_connection *connection, natsOptions *options, struct err *err) {
    size_t count = connection->url->host_count;
    for (size_t tried = 1;; tried++) {
        natsStatus status = connect_in_time(connection, options);
        if (nats_connection_did(connection, status, "connect", err))
            return true;
        if (tried == count || is_closing(connection))
            return false;
        choose_next(connection);
    }
}

bool nats_connection_open(struct nats_connection *connection, const struct nats_url *url,
                          struct wakeup *wakeup, int64_t wait_ms, struct err *err) {
    natsOptions *options = NULL;
    connection->url = url;
    connection->wakeup = wakeup;
    connection->wait_ms = wait_ms;
    choose_next(connection);
    nats_end_begin(&connection->end);
    if (natsOptions_Create(&options) != NATS_OK)
        abort();
    bool well = set_options(options, connection, err) && try_hosts(connection, options, err);
    natsOptions_Destroy(options);
    if (!well)
        connection->nc = NULL;
    return well;
}

/* The library reports the end on a thread of its own, after the fact. */
void nats_connection_close(struct nats_connection *connection) {
    if (!connection->nc)
        return;
    natsConnection_Close(connection->nc);
    nats_end_await(&connection->end, connection->wakeup);
    natsConnection_Destroy(connection->nc);
    connection->nc = NULL;
}

/* ---- questions ---- */

void nats_connection_subject(struct bytes domain, const char *question, struct buf *out) {
    if (domain.len)
        buf_printf(out, "$JS.%.*s.API.%s", BYTES_ARG(domain), question);
    else
        buf_printf(out, "$JS.API.%s", question);
}

bool nats_connection_refused(struct json answer, struct arena *arena, struct bytes *words) {
    struct json error, description;
    if (!json_get(answer, "error", &error))
        return false;
    *words = BYTES("the server gave no reason");
    if (json_get(error, "description", &description))
        json_string(description, arena, words);
    return true;
}

enum status nats_connection_odd(struct nats_connection *connection, struct err *err) {
    return trouble(connection, STATUS_UNREACHABLE, "ask JetStream",
                   BYTES("unexpected answer of the server"), err);
}

static enum status status_of(struct json answer) {
    struct json error, code;
    bool missing = json_get(answer, "error", &error) && json_get(error, "code", &code) &&
                   bytes_is(code.text, "404");
    return missing ? STATUS_NOT_FOUND : STATUS_UNREACHABLE;
}

enum status nats_connection_ask(struct nats_connection *connection,
                                const struct nats_question *question, struct arena *arena,
                                struct json *answer, struct err *err) {
    char subject[SUBJECT_MAX];
    struct buf text;
    struct bytes words;
    natsMsg *reply = NULL;
    buf_init_fixed(&text, subject, sizeof subject);
    nats_connection_subject(question->domain, question->text, &text);
    natsStatus status = natsConnection_RequestString(&reply, connection->nc, buf_cstr(&text),
                                                     question->body, connection->wait_ms);
    if (!nats_connection_did(connection, status, "ask JetStream", err))
        return STATUS_UNREACHABLE;
    struct bytes data = arena_dup(
        arena, (struct bytes){natsMsg_GetData(reply), (size_t)natsMsg_GetDataLength(reply)});
    natsMsg_Destroy(reply);
    if (json_parse(data, answer, NULL) != STATUS_OK)
        return nats_connection_odd(connection, err);
    if (nats_connection_refused(*answer, arena, &words))
        return trouble(connection, status_of(*answer), question->text, words, err);
    return STATUS_OK;
}

static enum status ask_of_url(struct nats_connection *connection, struct buf *text,
                              struct arena *arena, struct json *answer, struct err *err) {
    struct nats_question question = {connection->url->domain, buf_cstr(text), ""};
    return nats_connection_ask(connection, &question, arena, answer, err);
}

/* The server's error does not say who creates consumers. */
static enum status advise(const struct nats_connection *connection, enum status status,
                          struct err *err) {
    size_t len = strlen(err->text);
    if (status == STATUS_NOT_FOUND && strstr(err->text, "consumer not found"))
        snprintf(
            err->text + len, sizeof err->text - len,
            " (impound does not create one: nats consumer add %.*s %.*s --pull --ack explicit)",
            BYTES_ARG(connection->url->stream), BYTES_ARG(connection->url->consumer));
    return status;
}

enum status nats_connection_ask_consumer(struct nats_connection *connection, struct arena *arena,
                                         struct json *answer, struct err *err) {
    char memory[SUBJECT_MAX];
    struct buf text;
    buf_init_fixed(&text, memory, sizeof memory);
    buf_printf(&text, "CONSUMER.INFO.%.*s.%.*s", BYTES_ARG(connection->url->stream),
               BYTES_ARG(connection->url->consumer));
    return advise(connection, ask_of_url(connection, &text, arena, answer, err), err);
}

enum status nats_connection_ask_stream(struct nats_connection *connection, struct arena *arena,
                                       struct json *answer, struct err *err) {
    char memory[SUBJECT_MAX];
    struct buf text;
    buf_init_fixed(&text, memory, sizeof memory);
    buf_printf(&text, "STREAM.INFO.%.*s", BYTES_ARG(connection->url->stream));
    return ask_of_url(connection, &text, arena, answer, err);
}
