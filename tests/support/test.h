/* What every C test includes: cmocka in the order it wants. */
#ifndef TEST_H
#define TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"

#define assert_bytes(actual, expected_text)                                                        \
    do {                                                                                           \
        struct bytes assert_bytes_actual = (actual);                                               \
        struct bytes assert_bytes_expected = bytes_of(expected_text);                              \
        assert_int_equal(assert_bytes_actual.len, assert_bytes_expected.len);                      \
        assert_memory_equal(assert_bytes_actual.ptr ? assert_bytes_actual.ptr : "",                \
                            assert_bytes_expected.ptr, assert_bytes_expected.len);                 \
    } while (0)

#endif
