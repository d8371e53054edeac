/* bench_letters: dead letters as the engine would put them, made by number, with bodies of 1 KiB:
 * for measuring. */
#ifndef APP_BENCH_LETTERS_H
#define APP_BENCH_LETTERS_H

#include "port/store.h"

enum { LETTERS_BODY = 1024, LETTERS_GROUP_MAX = 1024, LETTERS_ID_SIZE = 40, LETTERS_TEXTS = 500 };

#define LETTERS_QUEUE BYTES("orders")
#define LETTERS_DLQ   BYTES("orders.dlq")

/* One commit's worth, used again and again. */
struct bench_letters {
    struct store_commit commit;
    struct store_op ops[LETTERS_GROUP_MAX];
    struct envelope envelopes[LETTERS_GROUP_MAX];
    struct envelope_note notes[LETTERS_GROUP_MAX];
    char ids[LETTERS_GROUP_MAX][2][LETTERS_ID_SIZE];
    char messages[LETTERS_TEXTS][64]; /* distinct error texts */
    char body[LETTERS_BODY];
};

struct bench_letters *bench_letters_new(void);
/* `count` new letters, numbered from `first`, that died at `dead_at`. */
void bench_letters_fill(struct bench_letters *letters, uint32_t queue, uint64_t first, size_t count,
                        struct wall dead_at);
/* Bytes of one letter as the store records it: envelope and body. */
size_t bench_letters_size(struct bench_letters *letters);

#endif
