/* blob: bytes with several owners, on any threads; the count is atomic. */
#ifndef STORE_TABLES_BLOB_H
#define STORE_TABLES_BLOB_H

#include <stdatomic.h>

#include "base/bytes.h"

struct blob {
    atomic_uint owners;
    size_t len;
    char data[];
};

/* One owner: the caller. Contents are not set. NULL when it is large (BLOB_LARGE) and there is no
 * memory. */
enum { BLOB_LARGE = 1 << 20 };
struct blob *blob_new(size_t len);
struct blob *blob_of(struct bytes bytes);   /* a copy */
struct blob *blob_share(struct blob *blob); /* one owner more; NULL stays NULL */
void blob_free(struct blob *blob);          /* one owner less; the last one frees */

/* A run of bytes inside a blob, kept alive by it. */
struct kept {
    struct blob *blob; /* NULL: not in memory */
    struct bytes bytes;
};

void blob_unkeep(struct kept *kept);
void blob_keep(struct kept *kept, struct blob *blob, struct bytes bytes); /* shares the blob */

#endif
