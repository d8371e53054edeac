/* What port/broker.h promises of a server's adapter, on a server that runs. */
#include "test.h"

#include <stdio.h>

#include "base/json/json.h"
#include "base/thread/mailbox.h"
#include "broker_subject.h"
#include "port/clock.h"

enum { PATIENCE_MS = 600 * 1000, LOOK_MS = 20, MESSAGES = 20, RECEIVE_MAX = 64 };

static struct mailbox wakeup;

static void ring(void *arg) {
    mailbox_ring(arg);
}

/* With the same instance it is the same one in another life. */
static struct broker_options options_of(const char *instance) {
    static char url[256];
    broker_subject.url(url, sizeof url);
    assert_int_equal(broker_subject.check(bytes_of(url), NULL), STATUS_OK);
    return (struct broker_options){.url = bytes_of(url),
                                   .queue = BYTES("q"),
                                   .instance = bytes_of(instance),
                                   .clock = &clock_system,
                                   .seed = 1,
                                   .max_body = 1 << 20};
}

static struct broker *new_consumer(const char *instance) {
    struct broker_options options = options_of(instance);
    return broker_subject.source(&options);
}

static struct broker *open_consumer(const char *instance) {
    struct broker *broker = new_consumer(instance);
    broker->vtable->listen(broker, ring, &wakeup);
    return broker;
}

static void close_consumer(struct broker *broker) {
    broker->vtable->free(broker);
}

/* ---- waiting ---- */

static struct mono deadline(void) {
    return mono_after(clock_now(&clock_system).mono, PATIENCE_MS);
}

static void look_again(struct mono until, const char *what) {
    struct mono now = clock_now(&clock_system).mono;
    if (now.ms > until.ms)
        fail_msg("never happened: %s", what);
    mailbox_wait(&wakeup, mono_after(now, LOOK_MS));
}

static size_t receive(struct broker *broker, struct message **out, size_t max) {
    return broker->vtable->receive(broker, clock_now(&clock_system), out, max);
}

static void receive_all(struct broker *broker, struct message **out, size_t count) {
    struct mono until = deadline();
    for (size_t got = 0; got < count;) {
        got += receive(broker, out + got, count - got);
        if (got < count)
            look_again(until, "all are received");
    }
}

static void await_left(size_t count) {
    struct mono until = deadline();
    while (broker_subject.left() != count)
        look_again(until, "the server has so many left");
}

static void settle(struct broker *broker, struct message *held) {
    broker->vtable->settle(broker, held);
    message_free(held);
}

static void push_numbers(size_t from, size_t count) {
    for (size_t i = from; i < from + count; i++) {
        char body[32];
        snprintf(body, sizeof body, "{\"n\":%zu}", i);
        broker_subject.push(bytes_of(body));
    }
}

static size_t number_of(const struct message *held) {
    struct json body, number;
    int64_t value = -1;
    assert_int_equal(json_parse(held->body, &body, NULL), STATUS_OK);
    assert_true(json_get(body, "n", &number) && json_i64(number, &value));
    return (size_t)value;
}

/* ---- the tests ---- */

static void messages_come_as_they_are_and_prove_where_they_come_from(void **state) {
    (void)state;
    static const char bytes[] = {'\0', '\xff', '\n', '{', '\xc3', '\x28'};
    struct bytes odd = {bytes, sizeof bytes};
    struct message *held[1];
    struct broker *broker = open_consumer("one");
    assert_string_equal(broker->vtable->kind, broker_subject.kind);
    broker_subject.push(odd);
    receive_all(broker, held, 1);
    struct json source, kind;
    struct bytes text = BYTES_NONE;
    assert_true(bytes_eq(held[0]->body, odd));
    assert_int_equal(held[0]->seq, 0);
    assert_true(held[0]->envelope.id.len > 0 && held[0]->envelope.id.len <= 255);
    assert_true(bytes_is_printable(held[0]->envelope.id));
    /* A position does not say what was given behind it. */
    assert_int_equal(held[0]->redelivered, broker_subject.one_position);
    assert_int_equal(json_parse(held[0]->envelope.source, &source, NULL), STATUS_OK);
    assert_true(json_get(source, "kind", &kind) && json_string(kind, &held[0]->arena, &text));
    assert_bytes(text, broker_subject.kind);
    settle(broker, held[0]);
    await_left(0);
    close_consumer(broker);
}

static void they_come_in_order_and_never_more_than_asked_for(void **state) {
    (void)state;
    struct message *held[MESSAGES];
    push_numbers(0, MESSAGES);
    struct broker *broker = open_consumer("one");
    struct mono until = deadline();
    for (size_t got = 0; got < MESSAGES;) {
        size_t some = receive(broker, held + got, 3 < MESSAGES - got ? 3 : MESSAGES - got);
        assert_true(some <= 3);
        got += some;
        if (some == 0)
            look_again(until, "all are received");
    }
    for (size_t i = 0; i < MESSAGES; i++) {
        assert_int_equal(number_of(held[i]), i);
        settle(broker, held[i]);
    }
    await_left(0);
    close_consumer(broker);
}

/* Every other one, or the first half where the server knows one position. */
static bool is_gone(size_t number) {
    return broker_subject.one_position ? number < MESSAGES / 2 : number % 2 == 1;
}

/* From behind: the rest stays, and comes again in another life, marked. */
static void what_is_settled_is_gone_and_all_else_comes_again(void **state) {
    (void)state;
    struct message *held[MESSAGES];
    char ids[MESSAGES][256];
    struct broker *broker = open_consumer("one");
    push_numbers(0, MESSAGES);
    receive_all(broker, held, MESSAGES);
    assert_int_equal(broker_subject.left(), MESSAGES);
    for (size_t i = MESSAGES; i-- > 0;) {
        snprintf(ids[number_of(held[i])], sizeof ids[0], "%.*s", BYTES_ARG(held[i]->envelope.id));
        if (is_gone(number_of(held[i])))
            settle(broker, held[i]);
        else
            message_free(held[i]); /* the engine is freed without settling */
    }
    await_left(MESSAGES / 2); /* at the end a server has little time to hear of it */
    close_consumer(broker);
    await_left(MESSAGES / 2);
    broker = open_consumer("one");
    receive_all(broker, held, MESSAGES / 2);
    for (size_t i = 0; i < MESSAGES / 2; i++) {
        assert_false(is_gone(number_of(held[i])));
        assert_true(held[i]->redelivered);
        assert_bytes(held[i]->envelope.id, ids[number_of(held[i])]);
        settle(broker, held[i]);
    }
    await_left(0);
    assert_int_equal(receive(broker, held, 1), 0);
    close_consumer(broker);
}

static void what_is_handed_back_comes_again_when_it_is_due(void **state) {
    (void)state;
    struct message *held[1];
    struct broker *broker = open_consumer("one");
    push_numbers(7, 1);
    receive_all(broker, held, 1);
    struct instant due = clock_now(&clock_system);
    due.mono.ms += 200;
    broker->vtable->hand_back(broker, held[0], due);
    assert_int_equal(broker_subject.left(), 1);
    receive_all(broker, held, 1);
    assert_true(clock_now(&clock_system).mono.ms >= due.mono.ms);
    assert_int_equal(number_of(held[0]), 7);
    settle(broker, held[0]);
    await_left(0);
    close_consumer(broker);
}

static void nothing_comes_while_nothing_is_wanted(void **state) {
    (void)state;
    struct message *held[MESSAGES];
    struct broker *broker = new_consumer("one");
    broker->vtable->want(broker, false);
    broker->vtable->listen(broker, ring, &wakeup);
    push_numbers(0, MESSAGES);
    struct mono until = deadline();
    while (broker->vtable->lag(broker) != MESSAGES)
        look_again(until, "it knows how many wait");
    assert_int_equal(receive(broker, held, MESSAGES), 0);
    broker->vtable->want(broker, true);
    receive_all(broker, held, MESSAGES);
    for (size_t i = 0; i < MESSAGES; i++)
        settle(broker, held[i]);
    await_left(0);
    close_consumer(broker);
}

static bool is_connected(struct broker *broker, bool *has_words) {
    struct broker_health health;
    broker->vtable->health(broker, &health);
    *has_words = health.trouble.text[0] != '\0';
    return health.connected;
}

/* Half of what it had is settled while nobody listens. */
static void a_server_that_dies_is_found_again(void **state) {
    (void)state;
    struct message *held[MESSAGES];
    bool has_words;
    if (!broker_subject.sever)
        skip();
    struct broker *broker = open_consumer("one");
    push_numbers(0, MESSAGES);
    receive_all(broker, held, MESSAGES);
    assert_true(is_connected(broker, &has_words));
    assert_false(has_words);
    broker_subject.sever();
    struct mono until = deadline();
    while (is_connected(broker, &has_words))
        look_again(until, "that it is gone is noticed");
    assert_true(has_words);
    for (size_t i = 0; i < MESSAGES / 2; i++)
        settle(broker, held[i]);
    broker_subject.heal();
    until = deadline();
    while (!is_connected(broker, &has_words))
        look_again(until, "it is found again");
    for (size_t i = MESSAGES / 2; i < MESSAGES; i++)
        settle(broker, held[i]);
    await_left(0);
    push_numbers(MESSAGES, 1);
    receive_all(broker, held, 1);
    assert_int_equal(number_of(held[0]), MESSAGES);
    settle(broker, held[0]);
    await_left(0);
    close_consumer(broker);
}

static void what_waits_at_the_end_goes_free(void **state) {
    (void)state;
    push_numbers(0, MESSAGES);
    struct broker *broker = open_consumer("one");
    struct message *held[MESSAGES];
    receive_all(broker, held, 1);
    settle(broker, held[0]);
    close_consumer(broker);
    await_left(MESSAGES - 1);
    broker = open_consumer("one");
    receive_all(broker, held, MESSAGES - 1);
    for (size_t i = 0; i < MESSAGES - 1; i++)
        settle(broker, held[i]);
    await_left(0);
    close_consumer(broker);
}

/* ---- looking ---- */

/* A number in order, with the id that its like had in `ids` ("": any). */
static void see(struct message *held, size_t number, char ids[][256]) {
    struct bytes id = held->envelope.id;
    assert_int_equal(number_of(held), number);
    assert_int_equal(held->seq, 0);
    if (ids[number][0])
        assert_bytes(id, ids[number]);
    snprintf(ids[number], sizeof ids[0], "%.*s", BYTES_ARG(id));
    message_free(held);
}

/* One pass. UNREACHABLE: the server was too slow, and another is to be begun. */
static enum status pass_through(size_t *seen, char ids[][256], struct mono until) {
    enum { AT_ONCE = 7 };
    struct broker_options options = options_of("one");
    struct peek *peek = broker_subject.peek(&options);
    struct message *held[AT_ONCE];
    struct err err = {STATUS_OK, ""};
    enum status status = STATUS_OK;
    size_t got = 1;
    *seen = 0;
    while (status == STATUS_TIMEOUT || (status == STATUS_OK && got > 0)) {
        status = peek->vtable->next(peek, held, AT_ONCE, &got, &err);
        if (status == STATUS_TIMEOUT)
            look_again(until, "the pass goes on");
        for (size_t i = 0; status == STATUS_OK && i < got; i++)
            see(held[i], (*seen)++, ids);
    }
    peek->vtable->free(peek);
    if (status != STATUS_OK && status != STATUS_UNREACHABLE)
        fail_msg("%s", err.text);
    return status;
}

static void look_through(size_t count, char ids[][256]) {
    struct mono until = deadline();
    size_t seen;
    while (pass_through(&seen, ids, until) == STATUS_UNREACHABLE)
        look_again(until, "a pass comes to its end");
    assert_int_equal(seen, count);
}

static void a_look_takes_nothing_and_knows_what_is_taken_afterwards(void **state) {
    (void)state;
    char ids[MESSAGES][256] = {""};
    struct message *held[MESSAGES];
    if (!broker_subject.peek)
        return;
    push_numbers(0, MESSAGES);
    look_through(MESSAGES, ids);
    look_through(MESSAGES, ids);
    assert_int_equal(broker_subject.left(), MESSAGES);
    struct broker *broker = open_consumer("one");
    receive_all(broker, held, MESSAGES);
    for (size_t i = 0; i < MESSAGES; i++) {
        if (broker_subject.look_names)
            assert_bytes(held[i]->envelope.id, ids[number_of(held[i])]);
        assert_true(held[i]->deliveries <= 1 || broker_subject.look_counts);
        settle(broker, held[i]);
    }
    await_left(0);
    close_consumer(broker);
    look_through(broker_subject.look_all ? MESSAGES : 0, ids);
}

static int next(void **state) {
    (void)state;
    broker_subject.next();
    return 0;
}

int main(void) {
    enum { SKIPPED = 77 };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(messages_come_as_they_are_and_prove_where_they_come_from, next),
        cmocka_unit_test_setup(they_come_in_order_and_never_more_than_asked_for, next),
        cmocka_unit_test_setup(what_is_settled_is_gone_and_all_else_comes_again, next),
        cmocka_unit_test_setup(what_is_handed_back_comes_again_when_it_is_due, next),
        cmocka_unit_test_setup(nothing_comes_while_nothing_is_wanted, next),
        cmocka_unit_test_setup(a_server_that_dies_is_found_again, next),
        cmocka_unit_test_setup(what_waits_at_the_end_goes_free, next),
        cmocka_unit_test_setup(a_look_takes_nothing_and_knows_what_is_taken_afterwards, next),
    };
    if (!broker_subject.start())
        return SKIPPED;
    mailbox_init(&wakeup);
    int failed = cmocka_run_group_tests_name(broker_subject.kind, tests, NULL, NULL);
    mailbox_free(&wakeup);
    broker_subject.stop();
    return failed;
}
