/* What makes a dead letter the one that it is, whenever it is given. */
#include "triage/adopt/adopt_identity.h"

#include "broker/registry.h"
#include "test.h"

struct given {
    const char *source, *id, *key, *body;
    const char *header[2]; /* NULL: none */
    int64_t written_ms;
};

static struct adopt_identity identity_of(const struct given *given) {
    struct adopt_identity identity;
    struct rule_header header = {bytes_of(given->header[0]), bytes_of(given->header[1])};
    struct message held = {.envelope = {.source = bytes_of(given->source),
                                        .id = bytes_of(given->id),
                                        .key = bytes_of(given->key),
                                        .headers = &header,
                                        .header_count = given->header[0] != NULL,
                                        .created_at = {given->written_ms}},
                           .body = bytes_of(given->body)};
    adopt_identity_of(registry_kinds, &held, &identity);
    return identity;
}

static void assert_pair(const struct given pair[2], bool same, bool exact) {
    struct adopt_identity a = identity_of(&pair[0]), b = identity_of(&pair[1]);
    assert_int_equal(strlen(a.text), ADOPT_IDENTITY_SIZE - 1);
    if ((strcmp(a.text, b.text) == 0) != same)
        fail_msg("%s %s and %s %s: %s", pair[0].source, pair[0].body, pair[1].source, pair[1].body,
                 same ? "are two" : "are one");
    assert_true(a.exact == exact && b.exact == exact);
}

#define KAFKA   "{\"kind\":\"kafka\",\"topic\":\"t\",\"partition\":1,\"offset\":2}"
#define NATS(d) "{\"kind\":\"nats\",\"stream\":\"S\",\"sequence\":7,\"delivered\":" d "}"
#define ENTRY(stream, group)                                                                       \
    "{\"kind\":\"redis\",\"stream\":\"" stream "\",\"group\":\"" group "\",\"entry\":\"1-0\"}"
#define RABBIT(redelivered)                                                                        \
    "{\"kind\":\"rabbitmq\",\"queue\":\"q\",\"redelivered\":" redelivered "}"
#define LIST "{\"kind\":\"redis\",\"list\":\"l\"}"

/* A pointer's source, once it was followed. */
#define KAFKA_TO(offset, more)                                                                     \
    "{\"kind\":\"kafka\",\"topic\":\"t\",\"partition\":1,\"offset\":2,"                            \
    "\"dead_at\":\"2026-01-01T00:00:00Z\",\"origin\":{\"topic\":\"o\",\"partition\":0,"            \
    "\"offset\":" offset more "}}"
#define NATS_TO(advisory, more)                                                                    \
    "{\"kind\":\"nats\",\"stream\":\"S\",\"sequence\":7,\"origin\":{\"stream\":\"O\","             \
    "\"sequence\":1" more "},\"advisory\":{\"id\":\"" advisory "\"}}"
#define GONE ",\"gone\":true"

static void coordinates_and_what_stands_there_tell(void **state) {
    (void)state;
    const struct {
        struct given pair[2];
        bool same;
    } cases[] = {
        {{{KAFKA, "t/1/2", "k", "a", {"h", "1"}, 5}, {KAFKA, "t/1/2", "k", "a", {"h", "1"}, 5}},
         true},
        {{{KAFKA, "t/1/2", NULL, "a", {0}, 5}, {KAFKA, "t/1/3", NULL, "a", {0}, 5}}, false},
        {{{KAFKA, "t/1/2", NULL, "a", {0}, 5}, {KAFKA, "t/1/2", NULL, "b", {0}, 5}}, false},
        {{{KAFKA, "t/1/2", NULL, "a", {0}, 5}, {KAFKA, "t/1/2", NULL, "a", {0}, 6}}, false},
        {{{KAFKA, "t/1/2", "k", "a", {0}, 5}, {KAFKA, "t/1/2", "l", "a", {0}, 5}}, false},
        {{{KAFKA, "t/1/2", NULL, "a", {"h", "1"}, 5}, {KAFKA, "t/1/2", NULL, "a", {"h", "2"}, 5}},
         false},
        {{{NATS("1"), "S:7", NULL, "a", {"h", "1"}, 5}, {NATS("2"), "S:7", "k", "a", {0}, 5}},
         true},
        {{{NATS("1"), "S:7", NULL, "a", {0}, 5}, {NATS("1"), "S:7", NULL, "a", {0}, 6}}, false},
        {{{NATS("1"), "S:7", NULL, "a", {0}, 5}, {NATS("1"), "S:7", NULL, "b", {0}, 5}}, false},
        {{{ENTRY("s", "g"), "1-0", NULL, "a", {0}, 0}, {ENTRY("s", "h"), "1-0", NULL, "a", {0}, 0}},
         true},
        {{{ENTRY("s", "g"), "1-0", NULL, "a", {0}, 0}, {ENTRY("t", "g"), "1-0", NULL, "a", {0}, 0}},
         false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_pair(cases[i].pair, cases[i].same, true);
}

static void a_pointer_stays_the_same_when_what_it_led_to_is_gone(void **state) {
    (void)state;
    const struct {
        struct given pair[2];
        bool same;
    } cases[] = {
        {{{KAFKA_TO("8", ""), "t/1/2", "k", "a", {"h", "1"}, 5},
          {KAFKA_TO("8", GONE), "t/1/2", NULL, "", {0}, 9}},
         true},
        {{{KAFKA_TO("8", ""), "t/1/2", "k", "a", {0}, 5},
          {KAFKA_TO("9", ""), "t/1/2", "k", "a", {0}, 5}},
         false},
        {{{NATS_TO("x", ",\"subject\":\"s\""), "S:7", NULL, "a", {"h", "1"}, 5},
          {NATS_TO("x", GONE), "S:7", NULL, "", {0}, 9}},
         true},
        {{{NATS_TO("x", ""), "S:7", NULL, "a", {0}, 5},
          {NATS_TO("y", ""), "S:7", NULL, "a", {0}, 5}},
         false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_pair(cases[i].pair, cases[i].same, true);
}

/* Stores have such names. */
static void where_it_stands_has_a_name_of_its_own(void **state) {
    (void)state;
    struct given given = {KAFKA, "t/1/2", NULL, "a", {0}, 5};
    assert_string_equal(identity_of(&given).place,
                        "5e9d39be6f466a76d0367a8598f783784b563a3e3b21a40e6ad1688830b65952");
    given.source = LIST;
    assert_string_equal(identity_of(&given).place, "");
}

static void else_it_is_all_that_stays_the_same(void **state) {
    (void)state;
    const struct {
        struct given pair[2];
        bool same;
    } cases[] = {
        {{{LIST, "x", NULL, "a", {0}, 0}, {LIST, "y", NULL, "a", {0}, 0}}, true},
        {{{LIST, "x", NULL, "a", {0}, 0}, {LIST, "x", NULL, "b", {0}, 0}}, false},
        {{{LIST, "x", "k", "a", {0}, 0}, {LIST, "x", "l", "a", {0}, 0}}, false},
        {{{LIST, "x", "ab", "c", {0}, 0}, {LIST, "x", "a", "bc", {0}, 0}}, false},
        {{{RABBIT("false"), "m", NULL, "a", {"message_id", "m"}, 0},
          {RABBIT("true"), "m", NULL, "a", {"message_id", "m"}, 0}},
         true},
        {{{RABBIT("false"), "m", NULL, "a", {"message_id", "m"}, 0},
          {RABBIT("false"), "n", NULL, "a", {"message_id", "n"}, 0}},
         false},
        {{{RABBIT("false"), "h", NULL, "a", {"x-death", "[{\"count\":1}]"}, 0},
          {RABBIT("false"), "h", NULL, "a", {"x-death", "[{\"count\":2}]"}, 0}},
         false},
        {{{RABBIT("false"), "h", NULL, "a", {"x-delivery-count", "1"}, 0},
          {RABBIT("true"), "h", NULL, "a", {"x-delivery-count", "2"}, 0}},
         true},
        {{{"", "h", NULL, "a", {0}, 0}, {"no JSON", "h", NULL, "a", {0}, 0}}, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_pair(cases[i].pair, cases[i].same, false);
}

static void beside_it_stands_what_its_broker_calls_it(void **state) {
    (void)state;
    static const char *const names[] = {"1", "2", ""};
    struct adopt_identity of[3];
    for (size_t i = 0; i < 3; i++) {
        struct message held = {.envelope = {.source = BYTES(LIST)},
                               .body = BYTES("a"),
                               .delivery = bytes_of(names[i])};
        adopt_identity_of(registry_kinds, &held, &of[i]);
        assert_string_equal(of[i].text, of[0].text);
    }
    assert_int_equal(strlen(of[0].delivery), ADOPT_IDENTITY_SIZE - 1);
    assert_string_not_equal(of[0].delivery, of[1].delivery);
    assert_string_not_equal(of[0].delivery, of[0].text);
    assert_string_equal(of[2].delivery, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coordinates_and_what_stands_there_tell),
        cmocka_unit_test(a_pointer_stays_the_same_when_what_it_led_to_is_gone),
        cmocka_unit_test(where_it_stands_has_a_name_of_its_own),
        cmocka_unit_test(else_it_is_all_that_stays_the_same),
        cmocka_unit_test(beside_it_stands_what_its_broker_calls_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
