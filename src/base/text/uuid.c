/* uuid: see the header. */
#include "base/text/uuid.h"

#include <stdio.h>

void uuid_v7(struct wall now, struct rng *rng, char text[UUID_TEXT_SIZE]) {
    uint64_t ms = (uint64_t)now.ms & 0xffffffffffffu;
    uint64_t a = rng_next(rng), b = rng_next(rng);
    snprintf(text, UUID_TEXT_SIZE, "%08llx-%04llx-7%03llx-%04llx-%012llx",
             (unsigned long long)(ms >> 16), (unsigned long long)(ms & 0xffff),
             (unsigned long long)(a & 0xfff), (unsigned long long)(0x8000 | ((a >> 12) & 0x3fff)),
             (unsigned long long)(b & 0xffffffffffffu));
}
