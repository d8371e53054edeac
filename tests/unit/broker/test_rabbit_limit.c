#include "test.h"

#include "broker/rabbitmq/rabbit_limit.h"

/* As servers of 3.10 and 4.x put it; for a queue whose name is no help. */
static void an_argument_is_read_from_a_refusal(void **state) {
    (void)state;
    static const struct {
        const char *words, *name, *value, *type; /* name NULL: it says nothing of an argument */
    } cases[] = {
        {"PRECONDITION_FAILED - inequivalent arg 'x-delivery-limit' for queue 'q' in vhost '/': "
         "received '?' but current is '3'",
         "x-delivery-limit", "3", ""},
        {"PRECONDITION_FAILED - inequivalent arg 'x-delivery-limit' for queue 'q' in vhost '/': "
         "received the value '?' of type 'longstr' but current is the value '20' of type 'long'",
         "x-delivery-limit", "20", "long"},
        {"PRECONDITION_FAILED - inequivalent arg 'x-delivery-limit' for queue 'q' in vhost '/': "
         "received the value '?' of type 'longstr' but current is none",
         "x-delivery-limit", NULL, ""},
        {"PRECONDITION_FAILED - inequivalent arg 'x-dead-letter-exchange' for queue 'q' in vhost "
         "'/': received none but current is the value '' of type 'longstr'",
         "x-dead-letter-exchange", "", "longstr"},
        {"PRECONDITION_FAILED - inequivalent arg 'x-delivery-limit' for queue 'but current is "
         "'7'' in vhost '/': received '?' but current is '3'",
         "x-delivery-limit", "3", ""},
        {"PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'q' in vhost '/': received "
         "'true' but current is 'false'",
         "durable", "false", ""},
        {"PRECONDITION_FAILED - invalid arg 'x-max-priority' for queue 'q' in vhost '/' of queue "
         "type rabbit_quorum_queue",
         NULL, NULL, NULL},
        {"PRECONDITION_FAILED - inequivalent arg '' for queue 'q': received '' but current is ''",
         NULL, NULL, NULL},
        {"inequivalent arg ", NULL, NULL, NULL},
        {"", NULL, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rabbit_limit_argument argument;
        bool read = rabbit_limit_read(bytes_of(cases[i].words), &argument);
        assert_int_equal(read, cases[i].name != NULL);
        if (!read)
            continue;
        assert_bytes(argument.name, cases[i].name);
        assert_int_equal(argument.value.ptr != NULL, cases[i].value != NULL);
        assert_bytes(argument.value, cases[i].value);
        assert_bytes(argument.type, cases[i].type);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_argument_is_read_from_a_refusal)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
