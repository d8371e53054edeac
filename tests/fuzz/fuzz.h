/* fuzz: what every fuzz target includes. A target takes any bytes and aborts when a promise of the
 * code under test does not hold; driver.c or libFuzzer feeds it. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(promise)                                                                        \
    do {                                                                                           \
        if (!(promise)) {                                                                          \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #promise);                  \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static inline struct bytes fuzz_text(const uint8_t *data, size_t size) {
    return (struct bytes){(const char *)data, size};
}

#endif
