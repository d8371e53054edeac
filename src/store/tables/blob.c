#include "store/tables/blob.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct blob *blob_new(size_t len) {
    size_t size = sizeof(struct blob) + len;
    struct blob *blob = len < BLOB_LARGE ? memory_grow(NULL, size) : memory_try(NULL, size);
    if (!blob)
        return NULL;
    atomic_init(&blob->owners, 1);
    blob->len = len;
    return blob;
}

struct blob *blob_of(struct bytes bytes) {
    struct blob *blob = blob_new(bytes.len);
    if (blob && bytes.len > 0)
        memcpy(blob->data, bytes.ptr, bytes.len);
    return blob;
}

struct blob *blob_share(struct blob *blob) {
    if (blob)
        atomic_fetch_add_explicit(&blob->owners, 1, memory_order_relaxed);
    return blob;
}

void blob_free(struct blob *blob) {
    if (blob && atomic_fetch_sub_explicit(&blob->owners, 1, memory_order_acq_rel) == 1)
        free(blob);
}

void blob_unkeep(struct kept *kept) {
    blob_free(kept->blob);
    *kept = (struct kept){0};
}

void blob_keep(struct kept *kept, struct blob *blob, struct bytes bytes) {
    blob_share(blob);
    blob_unkeep(kept);
    *kept = (struct kept){.blob = blob, .bytes = bytes};
}
