/* http: the pool's thread owns the multi handle and every transfer; other threads reach it through
 * the call queue (call_queue.h) alone. A transfer (libcurl's easy handle with its buffers) is
 * reused for later calls.
 *
 * HTTP/1.1 on purpose: with one call on a connection at a time, a connection that is closed without
 * an answer points to the one call that was on it (SEMANTICS 4.10).
 *
 * libcurl repeats a request by itself when a kept connection turns out to be closed. A call may
 * cost money, so it is repeated only if no byte of it was written (may_repeat). */
#include "handler/http/http.h"

#include <assert.h>
#include <curl/curl.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/containers/heap.h"
#include "base/containers/list.h"
#include "base/memory.h"
#include "base/thread/thread.h"
#include "handler/common/call_queue.h"
#include "handler/http/http_answer.h"
#include "handler/http/http_request.h"
#include "handler/http/http_signature.h"
#include "handler/common/item.h"

enum {
    HTTP_HOST_CONNECTIONS_MAX = 8192, /* open to one host; further calls wait */
    HTTP_IDLE_CONNECTIONS_MAX = 1024, /* kept for later calls */
    HTTP_IDLE_TRANSFERS_MAX = 256,    /* kept for later calls */
    HTTP_SLEEP_MAX_MS = 3600 * 1000,  /* libcurl wakes earlier for its own timers */
    HTTP_PORTS = 1 << 16,
};

struct http_pool {
    struct clock *clock;
    struct call_queue calls;
    CURLM *multi;
    pthread_t thread;
    struct heap deadlines; /* of transfers in flight */
    uint64_t started;      /* calls; breaks ties */
    uint64_t connections;  /* number of the newest connection */
    /* Connection numbers by local port. Two connections to different hosts may share a port: the
     * older one then counts as the younger, which blames no message. */
    uint64_t *connection_of;
    struct list idle; /* transfers */
    size_t idle_count;
    char *user_agent;
};

struct http {
    struct handler handler;
    struct http_pool *pool;
    char *url;
    char *ca_file; /* NULL: the system's */
    int64_t timeout_ms;
    struct arena arena; /* holds the texts above and below */
    struct rule_header *headers;
    size_t header_count;
    struct bytes secret; /* empty: requests are not signed */
};

struct transfer {
    struct call_queue_entry entry; /* its call */
    struct heap_node deadline;
    struct list idle;
    CURL *easy;
    struct http *http;
    struct curl_slist *headers;
    struct buf body; /* of a group */
    struct http_answer answer;
    struct mono began;
    uint64_t connection; /* on which the request was, or is about to be, sent; 0: none yet */
    long connects;       /* connections opened for it when `connection` was set */
    bool repeated;       /* repeated on a fresh connection, after a stale one */
};

/* ---- transfers ---- */

static struct transfer *transfer_get(struct http_pool *pool) {
    struct list *node = list_pop_front(&pool->idle);
    if (node) {
        pool->idle_count--;
        return CONTAINER_OF(node, struct transfer, idle);
    }
    struct transfer *transfer = memory_new(sizeof *transfer);
    list_init(&transfer->idle);
    http_answer_init(&transfer->answer);
    buf_init_heap(&transfer->body, ITEM_TEXT_MAX);
    transfer->easy = curl_easy_init();
    assert(transfer->easy);
    return transfer;
}

static void transfer_free(struct transfer *transfer) {
    curl_easy_cleanup(transfer->easy);
    http_answer_free(&transfer->answer);
    buf_free(&transfer->body);
    free(transfer);
}

static void transfer_put(struct http_pool *pool, struct transfer *transfer) {
    assert(list_empty(&transfer->idle));
    curl_slist_free_all(transfer->headers);
    transfer->headers = NULL;
    buf_free(&transfer->body);
    http_answer_clear(&transfer->answer, HTTP_ANSWER_KEPT_MAX, false);
    if (pool->idle_count >= HTTP_IDLE_TRANSFERS_MAX) {
        transfer_free(transfer);
        return;
    }
    list_push_front(&pool->idle, &transfer->idle);
    pool->idle_count++;
}

static void set_body(CURL *easy, struct bytes body) {
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.len);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body.len ? body.ptr : "");
}

static struct bytes body_of(struct transfer *transfer) {
    struct task task = transfer->entry.task;
    if (task.call)
        return task.call->body;
    buf_clear(&transfer->body);
    http_request_put_group(task.group, &transfer->body);
    return buf_view(&transfer->body);
}

/* Whether the call may be repeated on another connection: no byte of the request was written. */
static bool may_repeat(const struct transfer *transfer) {
    long written = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_REQUEST_SIZE, &written);
    return written == 0;
}

static void note_connection(struct transfer *transfer, int own_port) {
    struct http_pool *pool = transfer->http->pool;
    long connects = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_NUM_CONNECTS, &connects);
    uint64_t *number = &pool->connection_of[(unsigned)own_port % HTTP_PORTS];
    if (connects > transfer->connects)
        *number = ++pool->connections;
    transfer->connects = connects;
    transfer->connection = *number;
}

/* Called by libcurl before each send of the request. When a kept connection turns out to be closed,
 * libcurl tries the other kept ones one by one; a second send is allowed only on a fresh
 * connection. */
static int before_send(void *arg, char *peer_ip, char *own_ip, int peer_port, int own_port) {
    (void)peer_ip, (void)own_ip, (void)peer_port;
    struct transfer *transfer = arg;
    bool again = transfer->connection != 0;
    long before = transfer->connects;
    if (again && !may_repeat(transfer))
        return CURL_PREREQFUNC_ABORT;
    note_connection(transfer, own_port);
    return again && transfer->connects == before ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

static void sign(struct transfer *transfer, struct bytes body) {
    char line[HTTP_SIGNATURE_SIZE];
    http_signature_line(transfer->http->secret, body, line);
    transfer->headers = curl_slist_append(transfer->headers, line);
    assert(transfer->headers);
}

static void set_options(struct transfer *transfer) {
    CURL *easy = transfer->easy;
    const struct http *http = transfer->http;
    struct bytes body = body_of(transfer);
    curl_easy_reset(easy);
    if (http->secret.len > 0)
        sign(transfer, body);
    curl_easy_setopt(easy, CURLOPT_URL, http->url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, http->pool->user_agent);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, before_send);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, transfer);
    if (http->ca_file)
        curl_easy_setopt(easy, CURLOPT_CAINFO, http->ca_file);
    if (task_at(transfer->entry.task, 0)->own_connection) {
        curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
        curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
    }
    set_body(easy, body);
    http_answer_attach(&transfer->answer, easy);
}

static size_t keep_of(struct task task) {
    if (task_at(task, 0)->wants_answer)
        return HTTP_ANSWER_WHOLE_MAX;
    return task.group ? HTTP_ANSWER_BATCH_MAX : HTTP_ANSWER_KEPT_MAX;
}

/* Starts the transfer. libcurl does not know the call's timeout; `deadlines` does. */
static void transfer_go(struct http_pool *pool, struct transfer *transfer) {
    struct task task = transfer->entry.task;
    http_answer_clear(&transfer->answer, keep_of(task), task_at(task, 0)->reads_ai);
    CURLMcode added = curl_multi_add_handle(pool->multi, transfer->easy);
    assert(added == CURLM_OK);
    (void)added;
}

/* ---- the pool's thread ---- */

static void start_call(struct http_pool *pool, struct http *http, struct task task) {
    struct transfer *transfer = transfer_get(pool);
    transfer->http = http;
    transfer->connection = 0;
    transfer->connects = 0;
    transfer->repeated = false;
    transfer->began = clock_now(pool->clock).mono;
    transfer->headers = http_request_headers(task, http->headers, http->header_count);
    transfer->deadline.at = mono_after(transfer->began, http->timeout_ms).ms;
    transfer->deadline.tie = pool->started++;
    heap_insert(&pool->deadlines, &transfer->deadline);
    call_queue_enter(&pool->calls, &transfer->entry, task);
    set_options(transfer);
    transfer_go(pool, transfer);
}

static void end_call(struct http_pool *pool, struct transfer *transfer,
                     const struct outcome *outcome, const struct outcome *items) {
    assert(transfer->http && transfer->easy);
    heap_remove(&pool->deadlines, &transfer->deadline);
    call_queue_leave(&pool->calls, &transfer->entry);
    task_end(transfer->entry.task, outcome, items);
    transfer_put(pool, transfer);
}

static void cancel_call(struct http_pool *pool, struct task task) {
    struct call_queue_entry *entry = call_queue_find(&pool->calls, task);
    if (!entry)
        return;
    struct transfer *transfer = CONTAINER_OF(entry, struct transfer, entry);
    curl_multi_remove_handle(pool->multi, transfer->easy);
    struct outcome outcome = {
        .ending = ENDING_INTERRUPTED,
        .retry_after_ms = -1,
        .duration_ms = clock_now(pool->clock).mono.ms - transfer->began.ms,
    };
    end_call(pool, transfer, &outcome, NULL);
}

static void finish_call(struct http_pool *pool, struct transfer *transfer, CURLcode code) {
    struct instant now = clock_now(pool->clock);
    if (!transfer->repeated && may_repeat(transfer) && http_answer_stale(transfer->easy, code)) {
        transfer->repeated = true;
        transfer->connection = 0;
        transfer->connects = 0;
        curl_easy_setopt(transfer->easy, CURLOPT_FRESH_CONNECT, 1L);
        transfer_go(pool, transfer);
        return;
    }
    struct arena arena;
    arena_init_heap(&arena, 1024);
    struct task task = transfer->entry.task;
    struct outcome outcome, *items = NULL;
    http_answer_outcome(&transfer->answer, transfer->easy, code, now.wall, &arena, &outcome);
    if (task.group && outcome.ending == ENDING_OK) {
        items = arena_alloc(&arena, task.group->count * sizeof *items);
        http_answer_items(&transfer->answer, task, &arena, &outcome, items);
    }
    outcome.duration_ms = now.mono.ms - transfer->began.ms;
    outcome.connection = transfer->connection;
    end_call(pool, transfer, &outcome, outcome.ending == ENDING_OK ? items : NULL);
    arena_free(&arena);
}

static void take_orders(struct http_pool *pool) {
    for (struct call_queue_order *order = call_queue_take(&pool->calls), *next; order;
         order = next) {
        next = call_queue_next(order);
        if (order->wish == CALL_QUEUE_START)
            start_call(pool, CONTAINER_OF(order->handler, struct http, handler), order->task);
        else
            cancel_call(pool, order->task);
        free(order);
    }
}

static void finish_calls(struct http_pool *pool) {
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(pool->multi, &left))) {
        CURL *easy = message->easy_handle;
        CURLcode code = message->data.result; /* the message is invalid after the removal */
        struct transfer *transfer;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&transfer);
        curl_multi_remove_handle(pool->multi, easy);
        finish_call(pool, transfer, code);
    }
}

static void end_overdue(struct http_pool *pool, struct mono now) {
    struct heap_node *first;
    while ((first = heap_first(&pool->deadlines)) && first->at <= now.ms) {
        struct transfer *transfer = CONTAINER_OF(first, struct transfer, deadline);
        curl_multi_remove_handle(pool->multi, transfer->easy);
        http_answer_overdue(&transfer->answer, transfer->http->timeout_ms);
        finish_call(pool, transfer, CURLE_OPERATION_TIMEDOUT);
    }
}

static int sleep_ms(struct http_pool *pool) {
    struct heap_node *first = heap_first(&pool->deadlines);
    int64_t left = first ? first->at - clock_now(pool->clock).mono.ms : HTTP_SLEEP_MAX_MS;
    if (left <= 0)
        return 0;
    return left < HTTP_SLEEP_MAX_MS ? (int)left : HTTP_SLEEP_MAX_MS;
}

/* The time is read before the answers: one that has arrived by then was in time, however late this
 * thread is. libcurl's own timeout would not check for it. */
static void *run(void *arg) {
    struct http_pool *pool = arg;
    int running;
    while (!call_queue_closing(&pool->calls)) {
        take_orders(pool);
        struct mono now = clock_now(pool->clock).mono;
        curl_multi_perform(pool->multi, &running);
        finish_calls(pool);
        end_overdue(pool, now);
        curl_multi_poll(pool->multi, NULL, 0, sleep_ms(pool), NULL);
    }
    take_orders(pool); /* cancels that came too late */
    return NULL;
}

/* ---- creation, and calls from any thread ---- */

static void wake(void *arg) {
    struct http_pool *pool = arg;
    curl_multi_wakeup(pool->multi);
}

struct http_pool *http_pool_new(struct clock *clock, struct bytes version) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    struct http_pool *pool = memory_new(sizeof *pool);
    pool->clock = clock;
    pool->connection_of = memory_array(HTTP_PORTS, sizeof *pool->connection_of);
    list_init(&pool->idle);
    struct buf user_agent;
    buf_init_heap(&user_agent, 256);
    buf_str(&user_agent, "impound/");
    buf_bytes(&user_agent, version);
    pool->user_agent = buf_take(&user_agent, NULL);
    pool->multi = curl_multi_init();
    assert(pool->multi);
    curl_multi_setopt(pool->multi, CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
    curl_multi_setopt(pool->multi, CURLMOPT_MAX_HOST_CONNECTIONS, (long)HTTP_HOST_CONNECTIONS_MAX);
    curl_multi_setopt(pool->multi, CURLMOPT_MAXCONNECTS, (long)HTTP_IDLE_CONNECTIONS_MAX);
    call_queue_init(&pool->calls, wake, pool);
    thread_start(&pool->thread, "http-pool", run, pool);
    return pool;
}

void http_pool_free(struct http_pool *pool) {
    if (!pool)
        return;
    call_queue_close(&pool->calls);
    pthread_join(pool->thread, NULL);
    for (struct list *node; (node = list_pop_front(&pool->idle));)
        transfer_free(CONTAINER_OF(node, struct transfer, idle));
    curl_multi_cleanup(pool->multi);
    call_queue_free(&pool->calls);
    heap_free(&pool->deadlines);
    free(pool->user_agent);
    free(pool->connection_of);
    free(pool);
    curl_global_cleanup();
}

static void ask(struct handler *handler, enum call_queue_wish wish, struct task task) {
    call_queue_ask(&CONTAINER_OF(handler, struct http, handler)->pool->calls, wish, handler, task);
}

static void http_start(struct handler *handler, struct call *call) {
    ask(handler, CALL_QUEUE_START, (struct task){.call = call});
}

static void http_cancel(struct handler *handler, struct call *call) {
    ask(handler, CALL_QUEUE_CANCEL, (struct task){.call = call});
}

static void http_start_group(struct handler *handler, struct call_group *group) {
    ask(handler, CALL_QUEUE_START, (struct task){.group = group});
}

static void http_cancel_group(struct handler *handler, struct call_group *group) {
    ask(handler, CALL_QUEUE_CANCEL, (struct task){.group = group});
}

static void http_free(struct handler *handler) {
    struct http *http = CONTAINER_OF(handler, struct http, handler);
    arena_free(&http->arena);
    free(http);
}

static const struct handler_vtable http_vtable = {
    .kind = "http",
    .start = http_start,
    .start_group = http_start_group,
    .cancel_group = http_cancel_group,
    .cancel = http_cancel,
    .free = http_free,
};

struct handler *http_new(struct http_pool *pool, const struct http_options *options) {
    assert(options->timeout_ms > 0);
    struct http *http = memory_new(sizeof *http);
    http->handler.vtable = &http_vtable;
    http->pool = pool;
    http->timeout_ms = options->timeout_ms;
    arena_init_heap(&http->arena, 1024);
    http->url = arena_cstr(&http->arena, options->url);
    http->ca_file = options->ca_file.len ? arena_cstr(&http->arena, options->ca_file) : NULL;
    http->header_count = options->header_count;
    http->headers =
        arena_alloc(&http->arena, options->header_count * sizeof(struct rule_header) + 1);
    for (size_t i = 0; i < options->header_count; i++) {
        http->headers[i].name = arena_dup(&http->arena, options->headers[i].name);
        http->headers[i].value = arena_dup(&http->arena, options->headers[i].value);
    }
    http->secret = arena_dup(&http->arena, options->secret);
    return &http->handler;
}
