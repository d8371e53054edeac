/* Which URL leads back to where a letter came from. */
#include "test.h"

#include "app/wiring/origins.h"

static struct config_queue queues[] = {
    {.name = {"orders", 6}, .source = {"kafka://b1:9092/orders?group=g", 30}},
    {.name = {"own", 3}, .source = {"builtin", 7}},
};
static struct config_adopt adopts[] = {
    {.entry = {.name = {"legacy", 6}, .source = {"amqp://old/?queue=orders-dlq", 28}}},
    {.entry = {.name = {"connect", 7}, .source = {"kafka://other/dlq?group=g", 25}}},
};
static const struct config config = {
    .queues = queues, .queue_count = 2, .adopts = adopts, .adopt_count = 2};

static const struct {
    const char *queue, *source, *context;
    const char *url;   /* NULL: refused … */
    const char *words; /* … which says this */
} cases[] = {
    {"orders", "{\"kind\":\"kafka\",\"topic\":\"orders\",\"partition\":1}", "",
     "kafka://b1:9092/orders?group=g", "kafka topic orders"},
    {"orders", "{\"kind\":\"kafka\",\"topic\":\"orders\"}",
     "{\"adopted\":{\"convention\":\"kafka-connect\",\"from\":\"connect\"}}",
     "kafka://other/dlq?group=g", "kafka topic orders"},
    {"elsewhere", "{\"kind\":\"rabbitmq\",\"vhost\":\"/\",\"queue\":\"q1\"}",
     "{\"adopted\":{\"from\":\"legacy\"}}", "amqp://old/?queue=orders-dlq", "rabbitmq queue q1"},
    /* An entry that is gone, or of another kind, does not lead there; the queue may. */
    {"orders", "{\"kind\":\"kafka\",\"topic\":\"t\"}", "{\"adopted\":{\"from\":\"legacy\"}}",
     "kafka://b1:9092/orders?group=g", "kafka topic t"},
    {"orders", "{\"kind\":\"kafka\",\"topic\":\"t\"}", "{\"adopted\":{\"from\":\"gone\"}}",
     "kafka://b1:9092/orders?group=g", "kafka topic t"},
    /* A letter that was adopted may not say where it was before. */
    {"orders", "{\"kind\":\"kafka\"}", "{\"adopted\":{\"from\":\"connect\"}}", NULL,
     "which place of kafka letter l-1 came from"},
    /* A pointer that was followed too late. */
    {"orders", "{\"kind\":\"kafka\",\"topic\":\"orders\",\"partition\":1,\"gone\":true}",
     "{\"adopted\":{\"from\":\"connect\"}}", NULL,
     "the message of letter l-1 was gone from kafka topic orders before it could be read"},
    {"orders",
     "{\"kind\":\"kafka\",\"topic\":\"dead\",\"origin\":"
     "{\"kind\":\"kafka\",\"topic\":\"orders\",\"gone\":true}}",
     "", NULL, "was gone from kafka topic orders"},
    /* One that its queue's source followed goes to where the message was itself. */
    {"orders",
     "{\"kind\":\"kafka\",\"topic\":\"dead\",\"origin\":{\"kind\":\"kafka\",\"topic\":\"o\"}}", "",
     "kafka://b1:9092/orders?group=g", "kafka topic o"},
    {"elsewhere", "{\"kind\":\"redis\",\"list\":\"l\"}", "", NULL, "came from redis list l, and"},
    {"orders", "{\"kind\":\"nats\",\"stream\":\"S\",\"subject\":\"s.a\"}", "", NULL,
     "came from nats subject s.a, and"},
    {"own", "{\"kind\":\"builtin\"}", "", NULL, "the built-in queue"},
    {"orders", "{\"kind\":\"builtin\"}", "", NULL, "the built-in queue"},
    {"orders", "", "", NULL, "nothing is known of where letter l-1 came from"},
    {"orders", "{\"topic\":\"orders\"}", "", NULL, "nothing is known"},
    {"orders", "{\"kind\":7}", "[]", NULL, "nothing is known"},
};

static void each_letter_has_its_way_back_or_is_told_why_not(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct envelope letter = {.letter_id = BYTES("l-1"),
                                  .queue = bytes_of(cases[i].queue),
                                  .source = bytes_of(cases[i].source),
                                  .context = bytes_of(cases[i].context)};
        char words[REPLAY_ORIGIN_SIZE];
        struct bytes url;
        struct err err;
        enum status status = origins_find(&config, &letter, &url, words, &err);
        assert_int_equal(status, cases[i].url ? STATUS_OK : STATUS_INVALID);
        if (cases[i].url) {
            assert_bytes(url, cases[i].url);
            assert_string_equal(words, cases[i].words);
        } else {
            assert_non_null(strstr(err.text, cases[i].words));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_letter_has_its_way_back_or_is_told_why_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
