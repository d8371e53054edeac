/* Equal messages at a broker that tells them apart by nothing but "redelivered", and an adopter
 * that is killed at the worst of moments: none is settled without a letter of its own. */
#include <stdio.h>

#include "store/fake_store.h"
#include "test.h"
#include "triage/adopt.h"

enum { PILE_MAX = 8, LATER_MS = 6 * 1000, ALL_FAIL = 1000 };

static struct store *store;
static struct triage triage;
static struct instant now;
static struct adopt_entry entry;
static struct adopt *adopt;
static struct adopt_dlq dlq_is;

static struct instant read_clock(struct clock *clock) {
    (void)clock;
    return now;
}
static struct clock test_clock = {read_clock};

/* ---- the broker ---- */

/* What a kill, or the end of a connection, finds of what was settled. */
enum ear { HEARS, DEAF, HEARS_AND_IS_NOT_HEARD };

static struct {
    struct {
        const char *body;
        bool gone, redelivered, given;
        bool away; /* the broker has not noticed yet that whoever had it died */
    } messages[PILE_MAX];
    size_t count, most; /* most: of a wave */
    enum ear ear;
    bool slow;           /* to notice that */
    bool spoils_letters; /* the store fails once a wave is given */
    bool spoils_store;   /* from the moment on when something is settled */
    size_t waves, settles;
} pile;

static void lay(const char *body) {
    pile.messages[pile.count++].body = body;
}

static void lay_three(void) {
    for (int i = 0; i < 3; i++)
        lay("same");
}

/* Somebody gets them all and returns them. */
static void others_look(void) {
    for (size_t i = 0; i < pile.count; i++)
        pile.messages[i].redelivered = true;
}

static size_t left(void) {
    size_t count = 0;
    for (size_t i = 0; i < pile.count; i++)
        count += !pile.messages[i].gone;
    return count;
}

/* What was given and not settled comes again. */
static void hang_up(void) {
    for (size_t i = 0; i < pile.count; i++) {
        pile.messages[i].redelivered |= pile.messages[i].given;
        pile.messages[i].away |= pile.messages[i].given && pile.slow;
        pile.messages[i].given = false;
    }
}

static struct store_held *give(size_t at) {
    struct store_held *held = store_held_new();
    held->envelope.id = BYTES("a-hash");
    held->envelope.source = BYTES("{\"kind\":\"rabbitmq\"}");
    held->envelope.content_type = BYTES("text/plain");
    held->body = bytes_of(pile.messages[at].body);
    held->redelivered = pile.messages[at].redelivered;
    held->nameless = true;
    pile.messages[at].given = true;
    return held;
}

static enum status next(struct haul *haul, struct store_held **out, size_t max, size_t *count,
                        struct err *err) {
    (void)haul;
    (void)err;
    size_t most = pile.most && pile.most < max ? pile.most : max;
    *count = 0;
    pile.waves++;
    if (pile.spoils_letters)
        fake_store_fail(store, STATUS_IO, ALL_FAIL);
    for (size_t i = 0; i < pile.count && *count < most; i++) {
        assert_false(pile.messages[i].given); /* the wave before was settled to its end */
        if (!pile.messages[i].gone && !pile.messages[i].away)
            out[(*count)++] = give(i);
    }
    return STATUS_OK;
}

static enum status settle(struct haul *haul, size_t count, struct err *err) {
    (void)haul;
    pile.settles++;
    if (pile.spoils_store)
        fake_store_fail(store, STATUS_IO, ALL_FAIL);
    for (size_t i = 0; i < pile.count && count > 0 && pile.ear != DEAF; i++)
        if (pile.messages[i].given) {
            pile.messages[i].gone = true;
            pile.messages[i].given = false;
            count--;
        }
    if (pile.ear == HEARS)
        return STATUS_OK;
    hang_up();
    return err_set(err, STATUS_UNREACHABLE, "no answer");
}

static void haul_free(struct haul *haul) {
    (void)haul;
    hang_up();
}

static struct haul *open_haul(void *arg, const struct adopt_entry *of) {
    static const struct haul_vtable vtable = {next, settle, haul_free};
    static struct haul haul = {&vtable};
    (void)arg;
    assert_ptr_equal(of, &entry);
    return &haul;
}

/* The look before: everything, once. */

static size_t looked;

static enum status look_next(struct peek *peek, struct store_held **out, size_t max, size_t *count,
                             struct err *err) {
    (void)peek;
    (void)err;
    for (*count = 0; *count < max && looked < pile.count; looked++)
        out[(*count)++] = give(looked);
    return STATUS_OK;
}

static void look_free(struct peek *peek) {
    (void)peek;
    looked = 0;
    hang_up();
}

static struct peek *open_peek(void *arg, const struct adopt_entry *of) {
    static const struct peek_vtable vtable = {.next = look_next, .free = look_free};
    static struct peek peek = {&vtable};
    (void)arg;
    (void)of;
    return &peek;
}

static struct adopt_dlq dlq_says(void *arg, struct bytes name, struct arena *arena) {
    (void)arg;
    (void)name;
    (void)arena;
    return dlq_is;
}

/* ---- lives ---- */

static void begin_life(enum adopt_mode mode) {
    entry.mode = mode;
    adopt = adopt_new(&(struct adopt_options){.triage = &triage,
                                              .entries = &entry,
                                              .count = 1,
                                              .peek = open_peek,
                                              .haul = open_haul,
                                              .dlq = dlq_says});
}

static struct adopt_view step(void) {
    struct adopt_view view;
    now.mono.ms += LATER_MS;
    now.wall.ms += LATER_MS;
    adopt_step(adopt, 0, now);
    adopt_look(adopt, 0, &view);
    return view;
}

static void end_life(void) {
    adopt_free(adopt);
    adopt = NULL;
}

/* Nothing that it still does reaches the store. */
static void kill_life(void) {
    fake_store_fail(store, STATUS_IO, ALL_FAIL);
    end_life();
    fake_store_fail(store, STATUS_OK, 0);
}

/* One step that ends in a kill, at that spot; then a life that takes the rest. */
static void die_and_take(enum ear ear) {
    pile.ear = ear;
    begin_life(ADOPT_TAKE);
    step();
    kill_life();
    pile.ear = HEARS;
    begin_life(ADOPT_TAKE);
    step();
    end_life();
    assert_int_equal(left(), 0);
}

static uint64_t letters(void) {
    return store->vtable->dlq_depth(store, BYTES("legacy.dlq"));
}

static int start(void **state) {
    (void)state;
    now = (struct instant){{1763182181123}, {1000}};
    store = fake_store_new(true);
    triage_init(&triage, &test_clock, 7);
    triage.store = store;
    entry = (struct adopt_entry){.name = BYTES("legacy"), .dlq = BYTES("legacy.dlq")};
    dlq_is = (struct adopt_dlq){1000, BYTES_NONE};
    memset(&pile, 0, sizeof pile);
    return 0;
}

static int end(void **state) {
    (void)state;
    adopt_free(adopt);
    adopt = NULL;
    triage_free(&triage);
    store->vtable->close(store);
    return 0;
}

/* ---- what becomes of them ---- */

static void equal_ones_are_as_many_letters(void **state) {
    (void)state;
    for (size_t most = 0; most < 3; most++) {
        pile.count = 0;
        pile.most = most;
        memset(pile.messages, 0, sizeof pile.messages);
        lay_three();
        begin_life(ADOPT_TAKE);
        step();
        end_life();
        assert_int_equal(left(), 0);
        assert_int_equal(letters(), 3 * (most + 1));
    }
}

static void a_kill_before_the_broker_heard_doubles_none(void **state) {
    (void)state;
    lay_three();
    lay("another");
    die_and_take(DEAF);
    assert_int_equal(letters(), 4);
}

static void a_kill_after_the_broker_heard_loses_none(void **state) {
    (void)state;
    pile.most = 1;
    lay_three();
    die_and_take(HEARS_AND_IS_NOT_HEARD);
    assert_int_equal(letters(), 3);
}

static void kill_after_kill_is_the_same(void **state) {
    (void)state;
    static const enum ear ears[] = {DEAF, HEARS_AND_IS_NOT_HEARD, DEAF, DEAF,
                                    HEARS_AND_IS_NOT_HEARD};
    pile.most = 2;
    for (int i = 0; i < 6; i++)
        lay("same");
    for (size_t i = 0; i < sizeof ears / sizeof *ears; i++) {
        pile.ear = ears[i];
        begin_life(ADOPT_TAKE);
        step();
        kill_life();
    }
    die_and_take(DEAF);
    assert_int_equal(letters(), 6);
}

/* Whether the first was settled cannot be known then: its equals are redelivered, too. */
static void what_others_were_given_before_is_rather_two_than_none(void **state) {
    (void)state;
    pile.most = 1;
    lay_three();
    others_look();
    die_and_take(HEARS_AND_IS_NOT_HEARD);
    assert_int_equal(letters(), 3);
}

static void what_others_were_given_before_may_be_doubled(void **state) {
    (void)state;
    pile.most = 1;
    lay_three();
    others_look();
    die_and_take(DEAF);
    assert_int_equal(letters(), 4);
}

static void what_was_looked_at_is_neither_lost_nor_doubled(void **state) {
    (void)state;
    static const enum ear ears[] = {DEAF, HEARS_AND_IS_NOT_HEARD};
    for (size_t i = 0; i < 2; i++) {
        pile.count = 0;
        pile.most = 1;
        memset(pile.messages, 0, sizeof pile.messages);
        lay_three();
        begin_life(ADOPT_PEEK);
        assert_int_equal(step().adopted, 3);
        end_life();
        die_and_take(ears[i]);
        assert_int_equal(letters(), 3 * (i + 1));
    }
}

static void notice(void) {
    for (size_t i = 0; i < pile.count; i++)
        pile.messages[i].away = false;
}

static void what_we_were_given_may_come_late(void **state) {
    (void)state;
    pile.most = 2;
    pile.slow = true;
    lay("same");
    lay("same");
    lay("another");
    lay("another");
    begin_life(ADOPT_TAKE);
    pile.spoils_letters = true; /* killed with a wave, and no letter of it */
    step();
    kill_life();
    pile.spoils_letters = false;
    begin_life(ADOPT_TAKE);
    step();
    assert_int_equal(left(), 2);
    notice();
    pile.ear = DEAF;
    step();
    kill_life();
    notice();
    pile.ear = HEARS;
    begin_life(ADOPT_TAKE);
    step();
    assert_int_equal(left(), 0);
    assert_int_equal(letters(), 4);
}

static void a_broken_connection_is_no_more_than_a_kill(void **state) {
    (void)state;
    static const enum ear ears[] = {DEAF, HEARS_AND_IS_NOT_HEARD};
    for (size_t i = 0; i < 2; i++) {
        pile.count = 0;
        pile.most = 1;
        memset(pile.messages, 0, sizeof pile.messages);
        lay_three();
        begin_life(ADOPT_TAKE);
        pile.ear = ears[i];
        struct adopt_view view = step();
        assert_int_equal(view.state, ADOPT_WAITING);
        assert_string_equal(view.trouble.text, "no answer");
        pile.ear = HEARS;
        assert_string_equal(step().trouble.text, "");
        end_life();
        assert_int_equal(left(), 0);
        assert_int_equal(letters(), 3 * (i + 1));
    }
}

static void no_other_wave_is_asked_for_before_it_is_noted_what_was_heard(void **state) {
    (void)state;
    pile.most = 1;
    pile.spoils_store = true;
    lay_three();
    begin_life(ADOPT_TAKE);
    step();
    assert_int_equal(step().state, ADOPT_WAITING);
    assert_int_equal(pile.waves, 1);
    assert_int_equal(left(), 2);
    pile.spoils_store = false;
    fake_store_fail(store, STATUS_OK, 0);
    step();
    assert_int_equal(left(), 0);
    assert_int_equal(letters(), 3);
}

/* The first has a letter that was looked at, which fills the DLQ. */
static void fill_by_a_look(void) {
    dlq_is.cap = 1;
    lay("same");
    begin_life(ADOPT_PEEK);
    assert_int_equal(step().adopted, 1);
    end_life();
    pile.messages[0].redelivered = false;
}

static void what_has_no_room_stays_given_to_us(void **state) {
    (void)state;
    fill_by_a_look();
    lay("same");
    lay("same");
    begin_life(ADOPT_TAKE);
    struct adopt_view view = step();
    assert_non_null(strstr(view.trouble.text, "full"));
    assert_int_equal(left(), 2);
    size_t settles = pile.settles;
    step();
    assert_int_equal(pile.settles, settles + 1); /* it is asked whether the broker is there */
    dlq_is.cap = 3;
    assert_string_equal(step().trouble.text, "");
    assert_int_equal(left(), 0);
    assert_int_equal(letters(), 3);
}

static size_t redelivered(void) {
    size_t count = 0;
    for (size_t i = 0; i < pile.count; i++)
        count += pile.messages[i].redelivered;
    return count;
}

static void what_has_no_room_is_not_given_to_us_in_any_life(void **state) {
    (void)state;
    dlq_is.cap = 1;
    lay_three();
    for (int lives = 0; lives < 3; lives++) {
        begin_life(ADOPT_TAKE);
        assert_non_null(strstr(step().trouble.text, "full"));
        end_life();
    }
    assert_int_equal(pile.waves, 1);
    assert_int_equal(redelivered(), 0);
    dlq_is.cap = 4;
    begin_life(ADOPT_TAKE);
    assert_string_equal(step().trouble.text, "");
    assert_int_equal(left(), 0);
    assert_int_equal(letters(), 3);
}

/* It has its letter, and needs no room. */
static void what_the_broker_did_not_hear_of_is_taken_though_there_is_no_room(void **state) {
    (void)state;
    dlq_is.cap = 1;
    lay("same");
    die_and_take(DEAF);
    assert_int_equal(letters(), 1);
}

/* … also when the DLQ was full before in that life. */
static void what_the_broker_did_not_hear_of_later_is_taken_though_there_is_no_room(void **state) {
    (void)state;
    dlq_is.cap = 1;
    lay("first");
    begin_life(ADOPT_TAKE);
    assert_non_null(strstr(step().trouble.text, "full"));
    lay("same");
    assert_non_null(strstr(step().trouble.text, "full"));
    dlq_is.cap = 2;
    pile.ear = DEAF;
    assert_string_equal(step().trouble.text, "no answer");
    pile.ear = HEARS;
    step();
    assert_int_equal(left(), 0);
    assert_int_equal(letters(), 2);
}

static void what_has_no_room_is_not_given_to_us_again_and_again(void **state) {
    (void)state;
    fill_by_a_look();
    lay("same");
    lay("same");
    lay("another");
    begin_life(ADOPT_TAKE);
    step();
    pile.ear = DEAF; /* it was kept for too long: the broker ends the connection */
    assert_string_equal(step().trouble.text, "no answer");
    pile.ear = HEARS;
    size_t waves = pile.waves;
    for (int i = 0; i < 3; i++)
        assert_non_null(strstr(step().trouble.text, "full"));
    assert_int_equal(pile.waves, waves);
    assert_int_equal(redelivered(), 1);
    dlq_is.cap = 4;
    assert_string_equal(step().trouble.text, "");
    assert_int_equal(left(), 0);
    assert_int_equal(letters(), 4);
}

/* Nobody can make room by deciding about them before they are taken. */
static void what_was_looked_at_is_taken_though_there_is_no_room(void **state) {
    (void)state;
    lay_three();
    begin_life(ADOPT_PEEK);
    assert_int_equal(step().adopted, 3);
    end_life();
    dlq_is.cap = 3;
    begin_life(ADOPT_TAKE);
    step();
    assert_int_equal(left(), 0);
    assert_int_equal(letters(), 3);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, start, end)
    const struct CMUnitTest tests[] = {
        CASE(equal_ones_are_as_many_letters),
        CASE(a_kill_before_the_broker_heard_doubles_none),
        CASE(a_kill_after_the_broker_heard_loses_none),
        CASE(kill_after_kill_is_the_same),
        CASE(what_others_were_given_before_is_rather_two_than_none),
        CASE(what_others_were_given_before_may_be_doubled),
        CASE(what_was_looked_at_is_neither_lost_nor_doubled),
        CASE(what_we_were_given_may_come_late),
        CASE(a_broken_connection_is_no_more_than_a_kill),
        CASE(no_other_wave_is_asked_for_before_it_is_noted_what_was_heard),
        CASE(what_has_no_room_stays_given_to_us),
        CASE(what_has_no_room_is_not_given_to_us_in_any_life),
        CASE(what_the_broker_did_not_hear_of_is_taken_though_there_is_no_room),
        CASE(what_the_broker_did_not_hear_of_later_is_taken_though_there_is_no_room),
        CASE(what_has_no_room_is_not_given_to_us_again_and_again),
        CASE(what_was_looked_at_is_taken_though_there_is_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
