/* What is published to NATS. */
#include "test.h"

#include "broker/nats/nats_message.h"

static void assert_msg_id(const struct sink_item *item, const char *expected) {
    const char *value = NULL;
    natsMsg *message = nats_message_make(item, "orders.dlq", NULL);
    assert_non_null(message);
    assert_int_equal(natsMsgHeader_Get(message, "Nats-Msg-Id", &value), NATS_OK);
    assert_string_equal(value, expected);
    natsMsg_Destroy(message);
}

static void the_server_knows_an_item_by_its_stamp_or_else_by_its_id(void **state) {
    (void)state;
    struct sink_item item = {.id = BYTES("m-1"), .body = BYTES("x")};
    assert_msg_id(&item, "m-1");
    item.stamp = BYTES("letter:0");
    assert_msg_id(&item, "letter:0");
}

static int open_library(void **state) {
    (void)state;
    return nats_Open(0) == NATS_OK ? 0 : -1;
}

static int close_library(void **state) {
    (void)state;
    nats_Close();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_server_knows_an_item_by_its_stamp_or_else_by_its_id),
    };
    return cmocka_run_group_tests_name("nats_message", tests, open_library, close_library);
}
