#include "test.h"

#include "store/embedded/journal/crc32c.h"

static void it_gives_the_published_checksums(void **state) {
    (void)state;
    /* RFC 3720, appendix B.4, and the usual check string. */
    uint8_t zeroes[32] = {0}, ones[32], rising[32];
    memset(ones, 0xFF, sizeof ones);
    for (uint8_t i = 0; i < sizeof rising; i++)
        rising[i] = i;
    assert_int_equal(crc32c(0, zeroes, sizeof zeroes), 0x8A9136AA);
    assert_int_equal(crc32c(0, ones, sizeof ones), 0x62A8AB43);
    assert_int_equal(crc32c(0, rising, sizeof rising), 0x46DD794E);
    assert_int_equal(crc32c(0, "123456789", 9), 0xE3069283);
    assert_int_equal(crc32c(0, NULL, 0), 0);
}

static void parts_give_the_checksum_of_the_whole(void **state) {
    (void)state;
    const char text[] = "the queue is the highway, retries are the hard shoulder";
    uint32_t whole = crc32c(0, text, sizeof text);
    for (size_t cut = 0; cut <= sizeof text; cut++)
        assert_int_equal(crc32c(crc32c(0, text, cut), text + cut, sizeof text - cut), whole);
}

/* Long ones are reckoned in several streams; a byte at a time is not. */
static void long_bytes_give_what_they_give_one_by_one(void **state) {
    (void)state;
    static uint8_t bytes[5000];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * i + i / 7);
    for (size_t len = 0; len < sizeof bytes; len += 97) {
        uint32_t one_by_one = 0;
        for (size_t i = 0; i < len; i++)
            one_by_one = crc32c(one_by_one, &bytes[i], 1);
        assert_int_equal(crc32c(0, bytes, len), one_by_one);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_gives_the_published_checksums),
        cmocka_unit_test(long_bytes_give_what_they_give_one_by_one),
        cmocka_unit_test(parts_give_the_checksum_of_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
