#include "http_bench.h"

#include <stdlib.h>

#include "base/memory.h"

int http_bench_set_up(void **state) {
    struct http_bench *bench = memory_new(sizeof *bench);
    bench->pool = http_pool_new(&caller_clock, BYTES("1.2.3"));
    sem_init(&bench->arrived, 0, 0);
    sem_init(&bench->go, 0, 0);
    *state = bench;
    return 0;
}

/* The pool goes first: the peer's threads end when their client closes. */
int http_bench_tear_down(void **state) {
    struct http_bench *bench = *state;
    http_pool_free(bench->pool);
    if (bench->peer.serve)
        peer_stop(&bench->peer);
    sem_destroy(&bench->arrived);
    sem_destroy(&bench->go);
    free(bench);
    return 0;
}

void http_bench_begin(struct http_bench *bench, peer_serve *serve) {
    peer_start(&bench->peer, serve, bench, true);
}

void http_bench_answer(struct peer *peer, int fd, int number) {
    (void)number;
    struct http_bench *bench = peer->arg;
    while (peer_read(peer, fd))
        peer_write(fd, bench->answer);
}

struct handler *http_bench_handler(struct http_bench *bench, int64_t timeout_ms) {
    struct http_options options = {.url = bytes_of(bench->peer.url), .timeout_ms = timeout_ms};
    return http_new(bench->pool, &options);
}

void http_bench_post(struct http_bench *bench, struct caller *caller, int64_t timeout_ms) {
    struct handler *handler = http_bench_handler(bench, timeout_ms);
    caller_run(caller, handler);
    handler->vtable->free(handler);
}

void http_bench_post_for(struct http_bench *bench, struct caller *caller, const char *answer) {
    bench->answer = answer;
    if (!bench->peer.serve)
        http_bench_begin(bench, http_bench_answer);
    caller_init(caller);
    http_bench_post(bench, caller, HTTP_BENCH_LONG_MS);
}
