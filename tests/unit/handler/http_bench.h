/* http_bench: an http pool, and a peer for it to call. */
#ifndef HTTP_BENCH_H
#define HTTP_BENCH_H

#include <semaphore.h>

#include "caller.h"
#include "handler/http/http.h"
#include "peer.h"

enum { HTTP_BENCH_LONG_MS = 3600 * 1000 }; /* a timeout that is not to be reached */

#define OK_ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

struct http_bench {
    struct http_pool *pool;
    struct peer peer;
    const char *answer; /* what http_bench_answer sends */
    sem_t arrived;      /* a request that waits */
    sem_t go;           /* it may be answered */
};

int http_bench_set_up(void **state);
int http_bench_tear_down(void **state);
#define HTTP_TEST(test)                                                                            \
    cmocka_unit_test_setup_teardown(test, http_bench_set_up, http_bench_tear_down)

/* Starts the peer, a thread for each connection; its arg is the bench. */
void http_bench_begin(struct http_bench *bench, peer_serve *serve);
/* Answers every request on the connection with bench->answer. */
void http_bench_answer(struct peer *peer, int fd, int number);
/* Posts to the peer's URL. The caller frees it. */
struct handler *http_bench_handler(struct http_bench *bench, int64_t timeout_ms);
/* One call to its end; the outcome stays in the caller. */
void http_bench_post(struct http_bench *bench, struct caller *caller, int64_t timeout_ms);
/* The same with a plain call and a peer that answers so. */
void http_bench_post_for(struct http_bench *bench, struct caller *caller, const char *answer);

#endif
