/* A look at a cluster that is not there: it is told why as soon as that is known. Time stands still
 * here, so that no patience ever ends. */
#include "broker/kafka_peek.h"

#include "test.h"

enum { TRIES_MAX = 60 };

static struct instant no_time_passes(struct clock *clock) {
    (void)clock;
    return (struct instant){{1763182181123}, {1000}};
}
static struct clock test_clock = {no_time_passes};

/* Both ways to begin. */
static enum status look(struct peek *peek, bool begin, struct err *err) {
    struct store_held *held[1];
    size_t count;
    return begin ? peek->vtable->begin(peek, err) : peek->vtable->next(peek, held, 1, &count, err);
}

static void why_no_broker_can_be_reached_is_told_at_once(void **state) {
    (void)state;
    for (int begin = 0; begin < 2; begin++) {
        struct err err = {STATUS_OK, ""};
        enum status status = STATUS_TIMEOUT;
        struct peek *peek = kafka_peek_new(
            &(struct broker_options){.url = BYTES("kafka://127.0.0.1:1,127.0.0.1:2/dead"),
                                     .queue = BYTES("legacy"),
                                     .clock = &test_clock});
        for (size_t i = 0; i < TRIES_MAX && status == STATUS_TIMEOUT; i++)
            status = look(peek, begin, &err);
        peek->vtable->free(peek);
        assert_int_equal(status, STATUS_UNREACHABLE);
        assert_non_null(strstr(err.text, "no broker can be reached"));
        assert_non_null(strstr(err.text, "refused"));
    }
}

/* ThreadSanitizer does not know threads made with C11's thrd_create, which librdkafka's are. */
#ifdef __SANITIZE_THREAD__
enum { SKIPPED = 77, UNDER_TSAN = 1 };
#else
enum { SKIPPED = 77, UNDER_TSAN = 0 };
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(why_no_broker_can_be_reached_is_told_at_once),
    };
    return UNDER_TSAN ? SKIPPED : cmocka_run_group_tests_name("kafka_peek", tests, NULL, NULL);
}
