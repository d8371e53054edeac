/* blob: bytes with an atomic reference count, shared between threads. */
#ifndef STORE_TABLES_BLOB_H
#define STORE_TABLES_BLOB_H

#include <stdatomic.h>

#include "base/bytes.h"

struct blob {
    atomic_uint owners;
    size_t len;
    char data[];
};

/* The caller is the owner. The contents are not initialised. NULL if len is at least BLOB_LARGE and
 * there is no memory. */
enum { BLOB_LARGE = 1 << 20 };
struct blob *blob_new(size_t len);
struct blob *blob_of(struct bytes bytes);   /* a copy */
struct blob *blob_share(struct blob *blob); /* adds an owner; NULL stays NULL */
void blob_free(struct blob *blob);          /* removes an owner; the last one frees the blob */

/* A slice of a blob, with a reference to it. */
struct kept {
    struct blob *blob; /* NULL: not in memory */
    struct bytes bytes;
};

void blob_unkeep(struct kept *kept);
void blob_keep(struct kept *kept, struct blob *blob, struct bytes bytes); /* shares the blob */

#endif
