/* The adopter on made-up time, with the store kept in memory, a server that is consumed, and one
 * that is only looked at. */
#include "triage/adopt/adopt.h"

#include <stdio.h>

#include "fake_broker.h"
#include "broker/registry.h"
#include "core/comeback.h"
#include "store/fake_store.h"
#include "test.h"
#include "triage/adopt/adopt_identity.h"

enum { DAY_MS = 24 * 3600 * 1000, LATER_MS = 61 * 1000, PEEKED_MAX = 300 };

static struct store *store;
static struct triage triage;
static struct instant now;
static struct arena arena;
static struct err err;
static struct fake_server *server;
static struct adopt_entry entry;
static struct adopt *adopt;
static struct adopt_dlq dlq_is;
static struct adopt_home homes[2];

static struct instant read_clock(struct clock *clock) {
    (void)clock;
    return now;
}
static struct clock test_clock = {.now = read_clock};

/* ---- what is looked at ---- */

static struct {
    const char *bodies[PEEKED_MAX];
    bool exact;          /* they have coordinates */
    const char *mark[2]; /* the letter that they were, and its round; NULL: none */
    bool mirrored;       /* a mirror named the letter … */
    const char *died;    /* … and the copy has this header, too; NULL: not */
    size_t count, next;
    enum status trouble; /* what its words are about: who may not look is told so, and … */
    enum status returns; /* … may look tomorrow; OK: the same */
    bool none;           /* it cannot be looked at */
    unsigned open;
} lying;

static struct message *message_of(size_t number) {
    struct message *held = message_new();
    char text[128];
    snprintf(text, sizeof text, "m-%zu", number);
    held->envelope.id = arena_dup(&held->arena, bytes_of(text));
    snprintf(text, sizeof text,
             lying.exact ? "{\"kind\":\"nats\",\"sequence\":%zu}"
                         : "{\"kind\":\"fake\",\"at\":%zu}",
             number);
    held->envelope.source = arena_dup(&held->arena, bytes_of(text));
    held->envelope.content_type = BYTES("application/json");
    if (lying.mark[0]) {
        struct rule_header *headers = arena_alloc(&held->arena, 4 * sizeof *headers);
        headers[0] =
            (struct rule_header){lying.mirrored ? BYTES("dlq-letter-id") : BYTES(COMEBACK_LETTER),
                                 bytes_of(lying.mark[0])};
        headers[1] = (struct rule_header){BYTES(COMEBACK_REPLAYS), bytes_of(lying.mark[1])};
        headers[2] = (struct rule_header){BYTES("dlq-reason"), BYTES("timeout")};
        headers[3] = (struct rule_header){bytes_of(lying.died), BYTES("there")};
        held->envelope.headers = headers;
        held->envelope.header_count = lying.mirrored ? 3 + (lying.died != NULL) : 2;
    }
    held->body = arena_dup(&held->arena, bytes_of(lying.bodies[number]));
    return held;
}

static enum status next(struct peek *peek, struct message **out, size_t max, size_t *count,
                        struct err *trouble) {
    (void)peek;
    if (lying.trouble != STATUS_OK) {
        err_set(trouble, lying.trouble, "it is not so");
        return lying.returns != STATUS_OK ? lying.returns : lying.trouble;
    }
    for (*count = 0; *count < max && lying.next < lying.count; lying.next++)
        out[(*count)++] = message_of(lying.next);
    return STATUS_OK;
}

static void peek_free(struct peek *peek) {
    (void)peek;
    lying.next = 0;
    lying.open--;
}

static const struct peek_vtable peek_vtable = {.next = next, .free = peek_free};
static struct peek the_peek = {&peek_vtable};

static struct peek *open_peek(void *arg, const struct adopt_entry *of) {
    (void)arg;
    assert_ptr_equal(of, &entry);
    lying.open += !lying.none;
    return lying.none ? NULL : &the_peek;
}

static bool deaf;   /* the server does not hear what is settled */
static bool shared; /* … and may have something for others */
static struct broker *taken_from;

static void not_heard(struct broker *broker, struct message *held) {
    (void)broker;
    (void)held;
}

static bool is_drained(struct broker *broker) {
    return !shared && broker->vtable->lag(broker) == 0;
}

static struct broker *open_broker(void *arg, const struct adopt_entry *of) {
    static struct broker_vtable vtable;
    struct broker *broker = fake_broker_new(server);
    (void)arg;
    assert_ptr_equal(of, &entry);
    vtable = *broker->vtable;
    vtable.drained = is_drained;
    if (deaf)
        vtable.settle = not_heard;
    broker->vtable = &vtable;
    return taken_from = broker;
}

static struct adopt_dlq dlq_says(void *arg, struct bytes name, struct arena *into) {
    (void)arg;
    (void)into;
    assert_bytes(name, "legacy.dlq");
    return dlq_is;
}

/* ---- lives ---- */

static void begin_life(enum adopt_mode mode) {
    entry.mode = mode;
    adopt =
        adopt_new(&(struct adopt_options){.triage = &triage,
                                          .brokers = registry_kinds,
                                          .entries = &entry,
                                          .count = 1,
                                          .homes = homes,
                                          .home_count = homes[1].kind ? 2 : homes[0].kind != NULL,
                                          .peek = open_peek,
                                          .take = open_broker,
                                          .dlq = dlq_says});
}

static void end_life(void) {
    adopt_free(adopt);
    adopt = NULL;
}

static struct adopt_view step(void) {
    struct adopt_view view;
    now.mono.ms++;
    adopt_step(adopt, 0, now);
    adopt_look(adopt, 0, &view);
    return view;
}

static struct adopt_view step_later(int64_t ms) {
    now.mono.ms += ms;
    now.wall.ms += ms;
    return step();
}

static int start(void **state) {
    (void)state;
    now = (struct instant){{1763182181123}, {1000}};
    store = fake_store_new(true);
    triage_init(&triage, &test_clock, 7);
    triage.store = store;
    arena_init_heap(&arena, 4096);
    server = fake_server_new();
    entry = (struct adopt_entry){.name = BYTES("legacy"), .dlq = BYTES("legacy.dlq")};
    dlq_is = (struct adopt_dlq){1000, BYTES("team-a")};
    memset(&lying, 0, sizeof lying);
    shared = false;
    memset(homes, 0, sizeof homes);
    return 0;
}

static int end(void **state) {
    (void)state;
    adopt_free(adopt);
    adopt = NULL;
    assert_int_equal(lying.open, 0);
    fake_server_free(server);
    arena_free(&arena);
    triage_free(&triage);
    store->vtable->close(store);
    return 0;
}

/* ---- what is there ---- */

static void lie(const char *body) {
    lying.bodies[lying.count++] = body;
}

static void push(const char *id, const char *body) {
    fake_server_push(server, id, NULL, bytes_of(body));
}

static size_t letters(struct envelope **out) {
    struct letters_query query = {.letters = true, .limit = 1000, .oldest_first = true};
    struct letters_page page;
    assert_int_equal(letters_list(store->letters, &query, &arena, &page, &err), STATUS_OK);
    *out = arena_alloc(&arena, (page.count + 1) * sizeof **out);
    for (size_t i = 0; i < page.count; i++)
        assert_int_equal(envelope_restore(page.rows[i].envelope, &arena, &(*out)[i], &err),
                         STATUS_OK);
    return page.count;
}

static size_t count_letters(bool read_only) {
    struct envelope *found;
    size_t count = letters(&found), matching = 0;
    for (size_t i = 0; i < count; i++)
        matching += found[i].read_only == read_only;
    return matching;
}

static void assert_letters(size_t read_only, size_t ours) {
    assert_int_equal(count_letters(true), read_only);
    assert_int_equal(count_letters(false), ours);
}

static void decide(struct bytes letter_id, enum state as) {
    struct message *held;
    assert_int_equal(letters_get(store->letters, BYTES_NONE, letter_id, &held, &err), STATUS_OK);
    held->envelope.state = as;
    held->envelope.resolution = as == STATE_RESOLVED ? RESOLUTION_REPLAYED : RESOLUTION_NONE;
    struct store_op op = {.kind = STORE_UPDATE,
                          .queue = store->vtable->queue_number(store, held->envelope.queue),
                          .seq = held->seq,
                          .envelope = &held->envelope};
    assert_int_equal(triage_commit(&triage, &op, 1, &err), STATUS_OK);
    message_free(held);
}

/* ---- looking ---- */

static void a_look_makes_read_only_letters_once(void **state) {
    (void)state;
    struct envelope *found;
    lie("{\"n\":1}");
    lie("{\"n\":2}");
    begin_life(ADOPT_PEEK);
    struct adopt_view view = step();
    assert_int_equal(view.state, ADOPT_DONE);
    assert_int_equal(view.adopted, 2);
    assert_int_equal(lying.open, 0);
    assert_int_equal(letters(&found), 2);
    assert_true(found[0].read_only && found[0].cause == CAUSE_ADOPTED);
    assert_int_equal(found[0].state, STATE_PENDING_REVIEW);
    assert_bytes(found[0].dlq, "legacy.dlq");
    assert_bytes(found[0].owner, "team-a");
    assert_bytes(found[0].queue, "legacy");
    assert_int_equal(strlen(found[0].content_hash), 64);
    assert_int_equal(step_later(DAY_MS).adopted, 2);
    end_life();

    lie("{\"n\":3}");
    begin_life(ADOPT_PEEK);
    view = step();
    assert_int_equal(view.adopted, 1);
    assert_int_equal(view.known, 2);
    assert_letters(3, 0);
}

static void assert_belongs_to(const char *queue) {
    struct envelope *found;
    char body[128];
    snprintf(body, sizeof body,
             "{\"dlq_metadata\":{\"original_queue\":\"q.main\"},\"original_message\":{\"body\":"
             "\"%zu\"}}",
             lying.count);
    lie(arena_cstr(&arena, bytes_of(body)));
    begin_life(ADOPT_PEEK);
    assert_int_equal(step().adopted, 1);
    assert_int_equal(letters(&found), lying.count);
    assert_bytes(found[lying.count - 1].source, "{\"kind\":\"nats\",\"subject\":\"q.main\"}");
    assert_bytes(found[lying.count - 1].queue, queue);
    end_life();
}

static void a_letter_belongs_to_the_queue_whose_source_it_died_in(void **state) {
    (void)state;
    lying.exact = true;
    assert_belongs_to("q.main");
    homes[0] = (struct adopt_home){"nats", "subject", BYTES("q.main"), BYTES("main"), BYTES_NONE};
    assert_belongs_to("main");
    homes[1] = (struct adopt_home){"nats", "subject", BYTES("q.main"), BYTES("other"), BYTES_NONE};
    assert_belongs_to("q.main"); /* either could be meant */
    homes[1].member = "stream";
    assert_belongs_to("main");
    homes[0].server = BYTES("another:4222,");
    assert_belongs_to("q.main");
    homes[0].server = BYTES_NONE;
    homes[0].kind = "kafka";
    assert_belongs_to("q.main");
    homes[0].kind = "nats";
    homes[0].name = BYTES("q.mai");
    assert_belongs_to("q.main");
    homes[0].name = BYTES("q.main");
    entry.queue = BYTES("as-said");
    assert_belongs_to("as-said");
}

static void a_large_place_is_read_in_pieces(void **state) {
    (void)state;
    char bodies[PEEKED_MAX][16];
    for (size_t i = 0; i < PEEKED_MAX; i++) {
        snprintf(bodies[i], sizeof bodies[i], "%zu", i);
        lie(bodies[i]);
    }
    begin_life(ADOPT_PEEK);
    assert_int_equal(step().adopted, PEEKED_MAX);
    assert_letters(PEEKED_MAX, 0);
}

static void equal_ones_are_as_many_in_every_pass(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++)
        lie("same");
    for (int life = 0; life < 3; life++) {
        begin_life(ADOPT_PEEK);
        step();
        end_life();
    }
    assert_letters(3, 0);
}

static void coordinates_tell_equal_ones_apart(void **state) {
    (void)state;
    lying.exact = true;
    lie("same");
    lie("same");
    begin_life(ADOPT_PEEK);
    assert_int_equal(step().adopted, 2);
    end_life();
    begin_life(ADOPT_PEEK);
    assert_int_equal(step().known, 2);
    assert_letters(2, 0);
}

static void a_place_that_was_made_again_has_others_at_the_same_coordinates(void **state) {
    (void)state;
    lying.exact = true;
    lie("old 0");
    lie("the same");
    begin_life(ADOPT_PEEK);
    assert_int_equal(step().adopted, 2);
    end_life();
    lying.bodies[0] = "new 0";
    begin_life(ADOPT_PEEK);
    struct adopt_view view = step();
    assert_int_equal(view.adopted, 1);
    assert_int_equal(view.known, 1);
    assert_letters(3, 0);
    end_life();
    lying.bodies[0] = "old 0"; /* as where two clusters take turns */
    begin_life(ADOPT_PEEK);
    assert_int_equal(step().known, 2);
    assert_letters(3, 0);
}

/* ---- what earlier builds remembered ---- */

static struct bytes name_of(const char *identity) {
    char name[128];
    snprintf(name, sizeof name, "legacy/%s/1", identity);
    return arena_dup(&arena, bytes_of(name));
}

/* Of the first, by its coordinates alone. */
static void remember_as_before(void) {
    struct adopt_identity identity;
    struct message *held = message_of(0);
    struct bytes value;
    adopt_identity_of(registry_kinds, held, &identity);
    message_free(held);
    struct bytes name = name_of(identity.text), before = name_of(identity.place);
    assert_int_equal(
        letters_note(store->letters, 0, SPACE_ADOPTED, name, now.wall, &arena, &value, &err),
        STATUS_OK);
    struct store_op ops[] = {
        {.kind = STORE_KEEP, .keep = {.space = SPACE_ADOPTED, .name = before, .value = value}},
        {.kind = STORE_KEEP, .keep = {.space = SPACE_ADOPTED, .name = name}},
    };
    assert_int_equal(triage_commit(&triage, ops, 2, &err), STATUS_OK);
}

static void what_an_earlier_build_remembered_is_known_by_its_letter(void **state) {
    (void)state;
    lying.exact = true;
    lie("1");
    begin_life(ADOPT_PEEK);
    assert_int_equal(step().adopted, 1);
    end_life();
    remember_as_before();
    begin_life(ADOPT_PEEK);
    assert_int_equal(step().known, 1);
    end_life();
    lying.bodies[0] = "another";
    begin_life(ADOPT_PEEK);
    assert_int_equal(step().adopted, 1);
    assert_letters(2, 0);
}

static void what_would_do_harm_is_refused_for_good(void **state) {
    (void)state;
    lying.trouble = STATUS_FORBIDDEN;
    begin_life(ADOPT_PEEK);
    struct adopt_view view = step();
    assert_int_equal(view.state, ADOPT_REFUSED);
    assert_string_equal(view.trouble.text, "it is not so");
    lying.trouble = STATUS_OK;
    lie("1");
    assert_int_equal(step_later(DAY_MS).adopted, 0);
    end_life();

    lying.none = true;
    begin_life(ADOPT_PEEK);
    view = step();
    assert_int_equal(view.state, ADOPT_REFUSED);
    assert_non_null(strstr(view.trouble.text, "mode: take"));
}

static void who_may_not_look_is_told_so_and_tries_again(void **state) {
    (void)state;
    lying.trouble = STATUS_FORBIDDEN;
    lying.returns = STATUS_UNREACHABLE;
    lie("1");
    begin_life(ADOPT_PEEK);
    struct adopt_view view = step();
    assert_int_equal(view.state, ADOPT_WAITING);
    assert_string_equal(view.trouble.text, "it is not so");
    lying.trouble = STATUS_OK;
    assert_int_equal(step_later(LATER_MS).adopted, 1);
}

static void trouble_at_the_broker_or_the_store_ends_a_pass_and_another_follows(void **state) {
    (void)state;
    lie("1");
    lying.trouble = STATUS_UNREACHABLE;
    begin_life(ADOPT_PEEK);
    assert_int_equal(step().state, ADOPT_WAITING);
    assert_int_equal(lying.open, 0);
    lying.trouble = STATUS_OK;
    assert_int_equal(step().state, ADOPT_WAITING);
    fake_store_fail(store, STATUS_IO, 1);
    assert_int_equal(step_later(LATER_MS).state, ADOPT_WAITING);
    assert_letters(0, 0);
    struct adopt_view view = step_later(LATER_MS);
    assert_int_equal(view.state, ADOPT_DONE);
    assert_string_equal(view.trouble.text, "");
    assert_letters(1, 0);
}

/* ---- taking ---- */

static void what_is_taken_is_durable_first_and_settled_second(void **state) {
    (void)state;
    push("a", "1");
    push("b", "2");
    fake_store_fail(store, STATUS_IO, 1);
    begin_life(ADOPT_TAKE);
    assert_int_equal(step().state, ADOPT_WAITING);
    assert_int_equal(fake_server_count(server), 2);
    assert_letters(0, 0);
    assert_int_equal(step_later(LATER_MS).adopted, 2);
    assert_int_equal(fake_server_count(server), 0);
    assert_letters(0, 2);
    push("c", "3");
    assert_int_equal(step().adopted, 3);
    assert_int_equal(fake_server_count(server), 0);
}

/* As a kill between the commit and what the server hears of it. */
static void what_is_given_again_is_settled_and_not_doubled(void **state) {
    (void)state;
    push("a", "1");
    push("b", "2");
    deaf = true;
    begin_life(ADOPT_TAKE);
    assert_int_equal(step().adopted, 2);
    end_life();
    deaf = false;
    assert_int_equal(fake_server_count(server), 2);
    push("c", "3");
    begin_life(ADOPT_TAKE);
    struct adopt_view view = step();
    assert_int_equal(view.known, 2);
    assert_int_equal(view.adopted, 1);
    assert_int_equal(fake_server_count(server), 0);
    assert_letters(0, 3);
}

static void what_was_looked_at_is_the_same_letter_when_it_is_taken(void **state) {
    (void)state;
    struct envelope *before, *after;
    lie("1");
    lie("2");
    lie("2");
    begin_life(ADOPT_PEEK);
    step();
    end_life();
    assert_int_equal(letters(&before), 3);
    push("x", "2");
    push("y", "1");
    push("z", "2");
    push("new", "3");
    begin_life(ADOPT_TAKE);
    struct adopt_view view = step();
    assert_int_equal(view.taken, 3);
    assert_int_equal(view.adopted, 1);
    assert_int_equal(fake_server_count(server), 0);
    assert_letters(0, 4);
    assert_int_equal(letters(&after), 4);
    for (size_t i = 0; i < 3; i++)
        assert_true(bytes_eq(before[i].letter_id, after[i].letter_id));
}

static void equal_ones_are_two_letters_unless_one_comes_again(void **state) {
    (void)state;
    push("a", "same");
    push("b", "same");
    push("c", "same");
    begin_life(ADOPT_TAKE);
    assert_int_equal(step().adopted, 3);
    fake_server_set_trouble(server, "away");
    fake_server_set_trouble(server, NULL);
    push("d", "same");
    assert_int_equal(step().adopted, 4);
    assert_letters(0, 4);
}

/* Letters are durable, the server does not hear that, and we are killed. */
static void take_and_die(void) {
    deaf = true;
    begin_life(ADOPT_TAKE);
    step();
    end_life();
    deaf = false;
    begin_life(ADOPT_TAKE);
}

/* SEMANTICS 1.3: rather two letters than a message without one. */
static void without_an_id_what_comes_again_after_a_kill_is_a_letter_of_its_own(void **state) {
    (void)state;
    fake_server_set_without_ids(server);
    push("m", "same");
    push("m", "same");
    take_and_die();
    assert_letters(0, 2);
    struct adopt_view view = step();
    assert_int_equal(view.adopted, 2);
    assert_int_equal(view.known, 0);
    assert_int_equal(fake_server_count(server), 0);
    assert_letters(0, 4);
}

static void with_an_id_what_comes_again_after_a_kill_is_settled(void **state) {
    (void)state;
    fake_server_set_untagged(server);
    push("a", "same");
    push("b", "same");
    take_and_die();
    struct adopt_view view = step();
    assert_int_equal(view.adopted, 0);
    assert_int_equal(view.known, 2);
    assert_int_equal(fake_server_count(server), 0);
    assert_letters(0, 2);
}

/* Its server did not give it before, or its body is another, or its letter was decided about. */
static void with_an_id_that_is_held_others_are_letters_of_their_own(void **state) {
    (void)state;
    struct envelope *found;
    fake_server_set_untagged(server);
    push("a", "same");
    begin_life(ADOPT_TAKE);
    assert_int_equal(step().adopted, 1);
    push("a", "same");
    assert_int_equal(step().adopted, 2);
    push("a", "another");
    fake_server_give_before(server);
    assert_int_equal(step().adopted, 3);
    assert_int_equal(letters(&found), 3);
    assert_bytes(found[0].id, "a");
    for (size_t i = 1; i < 3; i++) {
        assert_true(bytes_eq(found[i].id, found[i].letter_id));
        assert_bytes(found[i].headers[found[i].header_count - 1].name, "Impound-Source-Id");
        assert_bytes(found[i].headers[found[i].header_count - 1].value, "a");
    }
    for (size_t i = 0; i < 3; i++)
        decide(found[i].letter_id, STATE_DISCARDED);
    push("a", "same");
    fake_server_give_before(server);
    assert_int_equal(step().adopted, 4);
    assert_int_equal(fake_server_count(server), 0);
}

static void without_an_id_a_look_stands_for_one_message_each(void **state) {
    (void)state;
    lie("same");
    lie("same");
    begin_life(ADOPT_PEEK);
    assert_int_equal(step().adopted, 2);
    end_life();
    fake_server_set_without_ids(server);
    push("m", "same");
    push("m", "same");
    push("m", "same");
    begin_life(ADOPT_TAKE);
    struct adopt_view view = step();
    assert_int_equal(view.taken, 2);
    assert_int_equal(view.adopted, 1);
    assert_int_equal(fake_server_count(server), 0);
    assert_letters(0, 3);
}

static void in_a_full_dlq_nothing_is_asked_for(void **state) {
    (void)state;
    dlq_is.cap = 1;
    push("a", "1");
    begin_life(ADOPT_TAKE);
    assert_int_equal(step().adopted, 1);
    push("b", "2");
    assert_non_null(strstr(step_later(LATER_MS).trouble.text, "full"));
    assert_false(fake_broker_wanted(taken_from));
    dlq_is.cap = 2;
    assert_int_equal(step_later(LATER_MS).adopted, 2);
    assert_true(fake_broker_wanted(taken_from));
}

static void equal_ones_that_we_handed_back_are_not_ours(void **state) {
    (void)state;
    dlq_is.cap = 1;
    push("a", "same");
    push("b", "same");
    begin_life(ADOPT_TAKE);
    struct adopt_view view = step();
    assert_int_equal(view.adopted, 1);
    assert_non_null(strstr(view.trouble.text, "full"));
    assert_int_equal(step_later(LATER_MS).adopted, 1);
    assert_int_equal(fake_server_count(server), 1);
    dlq_is.cap = 2;
    view = step_later(LATER_MS);
    assert_int_equal(view.adopted, 2);
    assert_string_equal(view.trouble.text, "");
    assert_int_equal(fake_server_count(server), 0);
    assert_letters(0, 2);
}

static void in_a_full_dlq_what_was_looked_at_can_be_taken(void **state) {
    (void)state;
    dlq_is.cap = 2;
    lie("1");
    lie("2");
    lie("3");
    begin_life(ADOPT_PEEK);
    struct adopt_view view = step();
    assert_int_equal(view.state, ADOPT_WAITING);
    assert_non_null(strstr(view.trouble.text, "full"));
    end_life();
    push("a", "1");
    push("b", "2");
    push("c", "3");
    begin_life(ADOPT_TAKE);
    assert_int_equal(step().taken, 2);
    assert_int_equal(fake_server_count(server), 1);
    assert_letters(0, 2);
}

static void what_left_its_broker_before_it_was_taken_can_be_decided_about(void **state) {
    (void)state;
    struct envelope *found;
    lie("1");
    lie("gone");
    begin_life(ADOPT_PEEK);
    step();
    end_life();
    push("a", "1");
    begin_life(ADOPT_TAKE);
    step();
    assert_letters(1, 1);
    step_later(LATER_MS);
    assert_letters(0, 2);
    assert_int_equal(letters(&found), 2);
    assert_true(bytes_find(found[1].why, BYTES("the broker no longer had it")) < found[1].why.len);
    push("b", "gone");
    assert_int_equal(step().taken, 2);
    assert_letters(0, 2);
    push("c", "gone");
    assert_int_equal(step().adopted, 1);
    assert_letters(0, 3);
}

/* Another member of the group holds a partition, say. */
static void what_may_lie_with_others_is_not_taken_for_gone(void **state) {
    (void)state;
    lie("1");
    begin_life(ADOPT_PEEK);
    step();
    end_life();
    shared = true;
    begin_life(ADOPT_TAKE);
    step();
    step_later(LATER_MS);
    assert_letters(1, 0);
    shared = false;
    step_later(LATER_MS);
    assert_letters(0, 1);
}

static void trouble_of_the_broker_is_told_while_it_lasts(void **state) {
    (void)state;
    fake_server_set_trouble(server, "wrong password");
    begin_life(ADOPT_TAKE);
    struct adopt_view view = step();
    assert_int_equal(view.state, ADOPT_WAITING);
    assert_string_equal(view.trouble.text, "wrong password");
    fake_server_set_trouble(server, NULL);
    view = step();
    assert_int_equal(view.state, ADOPT_READING);
    assert_string_equal(view.trouble.text, "");
}

/* ---- names ---- */

static void an_id_that_is_held_stays_another_messages(void **state) {
    (void)state;
    struct envelope *found;
    entry.queue = BYTES("orders");
    push("o-1", "1");
    push("o-1", "2");
    begin_life(ADOPT_TAKE);
    assert_int_equal(step().adopted, 2);
    push("o-1", "3");
    assert_int_equal(step().adopted, 3);
    assert_int_equal(letters(&found), 3);
    assert_bytes(found[0].id, "o-1");
    assert_bytes(found[0].queue, "orders");
    for (size_t i = 1; i < 3; i++) {
        assert_true(bytes_eq(found[i].id, found[i].letter_id));
        assert_int_equal(found[i].header_count, 1);
        assert_bytes(found[i].headers[0].name, "Impound-Source-Id");
        assert_bytes(found[i].headers[0].value, "o-1");
    }
}

/* ---- coming back ---- */

static void put_sent(enum state as) {
    struct envelope envelope = {.id = BYTES("o-1"),
                                .letter_id = BYTES("l-1"),
                                .queue = BYTES("orders"),
                                .dlq = BYTES("legacy.dlq"),
                                .state = as,
                                .resolution =
                                    as == STATE_RESOLVED ? RESOLUTION_REPLAYED : RESOLUTION_NONE,
                                .replays = 1,
                                .to_origin = true,
                                .reason = BYTES("timeout"),
                                .source = BYTES("{\"kind\":\"fake\"}"),
                                .retry_after_ms = -1,
                                .created_at = now.wall,
                                .dead_at = now.wall};
    struct store_op op = {.kind = STORE_PUT,
                          .queue = store->vtable->queue_number(store, envelope.queue),
                          .envelope = &envelope,
                          .body = BYTES("1")};
    assert_int_equal(triage_commit(&triage, &op, 1, &err), STATUS_OK);
}

static void assert_came_back(bool read_only) {
    struct envelope *found;
    assert_int_equal(letters(&found), 1);
    assert_bytes(found[0].letter_id, "l-1");
    assert_int_equal(found[0].state, STATE_PENDING_REVIEW);
    assert_int_equal(found[0].resolution, RESOLUTION_NONE);
    assert_int_equal(found[0].cause, CAUSE_ADOPTED);
    assert_int_equal(found[0].replays, 1);
    assert_int_equal(found[0].history_count, 1);
    assert_int_equal(found[0].history[0].replay, 1);
    assert_int_equal(found[0].header_count, 0);
    assert_true(found[0].read_only == read_only && !found[0].to_origin);
}

static void what_died_again_where_it_was_sent_to_is_the_same_letter(void **state) {
    (void)state;
    put_sent(STATE_RESOLVED);
    lying.mark[0] = "l-1";
    lying.mark[1] = "1";
    lie("1");
    begin_life(ADOPT_PEEK);
    assert_int_equal(step().adopted, 1);
    assert_came_back(true);
    end_life();
    begin_life(ADOPT_PEEK);
    assert_int_equal(step().known, 1);
    assert_came_back(true);
}

static void without_headers_its_id_and_body_tell(void **state) {
    (void)state;
    entry.queue = BYTES("orders");
    put_sent(STATE_RESOLVED);
    push("o-1", "1");
    begin_life(ADOPT_TAKE);
    assert_int_equal(step().adopted, 1);
    assert_int_equal(fake_server_count(server), 0);
    assert_came_back(false);
    push("o-1", "another body");
    assert_int_equal(step().adopted, 2);
    assert_letters(0, 2);
}

static void two_copies_of_what_came_back_are_one(void **state) {
    (void)state;
    put_sent(STATE_RESOLVED);
    lying.exact = true;
    lying.mark[0] = "l-1";
    lying.mark[1] = "1";
    lie("1");
    lie("1");
    begin_life(ADOPT_PEEK);
    step();
    assert_int_equal(step_later(LATER_MS).state, ADOPT_DONE);
    assert_came_back(true);
}

static void what_our_own_mirror_published_is_not_doubled(void **state) {
    (void)state;
    put_sent(STATE_RESOLVED);
    lying.mirrored = true;
    lying.mark[0] = "l-1";
    lying.mark[1] = "1";
    lie("1");
    begin_life(ADOPT_PEEK);
    assert_int_equal(step().known, 1);
    end_life();
    lying.mark[0] = "of another store";
    begin_life(ADOPT_PEEK);
    assert_int_equal(step().adopted, 1);
    assert_letters(1, 1);
}

static void a_mirrors_copy_that_was_changed_or_died_is_a_letter_of_its_own(void **state) {
    (void)state;
    put_sent(STATE_DISCARDED);
    lying.mirrored = true;
    lying.mark[0] = "l-1";
    lying.mark[1] = "0";
    lie("1, mended");
    begin_life(ADOPT_PEEK);
    assert_int_equal(step().adopted, 1);
    end_life();
    lying.bodies[0] = "1";
    lying.died = "__connect.errors.topic";
    begin_life(ADOPT_PEEK);
    assert_int_equal(step().adopted, 1);
    end_life();
    lying.died = NULL;
    begin_life(ADOPT_PEEK);
    assert_int_equal(step().known, 1);
    assert_letters(2, 1);
}

/* The same record dies in another group, after the letter came back and was decided about. */
static void what_dies_behind_a_decision_is_a_letter_of_its_own(void **state) {
    (void)state;
    struct envelope *found;
    put_sent(STATE_RESOLVED);
    lying.exact = true;
    lying.mark[0] = "l-1";
    lying.mark[1] = "1";
    lie("1");
    begin_life(ADOPT_PEEK);
    assert_int_equal(step().adopted, 1);
    assert_came_back(true);
    end_life();
    decide(BYTES("l-1"), STATE_DISCARDED);
    lie("1");
    begin_life(ADOPT_PEEK);
    assert_int_equal(step().adopted, 1);
    assert_int_equal(letters(&found), 2);
    assert_int_equal(found[0].state, STATE_DISCARDED);
    assert_int_equal(found[1].state, STATE_PENDING_REVIEW);
}

static void what_is_still_being_sent_is_looked_at_again(void **state) {
    (void)state;
    put_sent(STATE_REPLAYING);
    lying.mark[0] = "l-1";
    lying.mark[1] = "1";
    lie("1");
    begin_life(ADOPT_PEEK);
    assert_int_equal(step().state, ADOPT_WAITING);
    decide(BYTES("l-1"), STATE_RESOLVED);
    assert_int_equal(step_later(LATER_MS).state, ADOPT_DONE);
    assert_came_back(true);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, start, end)
    const struct CMUnitTest tests[] = {
        CASE(a_look_makes_read_only_letters_once),
        CASE(a_letter_belongs_to_the_queue_whose_source_it_died_in),
        CASE(a_large_place_is_read_in_pieces),
        CASE(equal_ones_are_as_many_in_every_pass),
        CASE(coordinates_tell_equal_ones_apart),
        CASE(a_place_that_was_made_again_has_others_at_the_same_coordinates),
        CASE(what_an_earlier_build_remembered_is_known_by_its_letter),
        CASE(what_would_do_harm_is_refused_for_good),
        CASE(who_may_not_look_is_told_so_and_tries_again),
        CASE(trouble_at_the_broker_or_the_store_ends_a_pass_and_another_follows),
        CASE(what_is_taken_is_durable_first_and_settled_second),
        CASE(what_is_given_again_is_settled_and_not_doubled),
        CASE(what_was_looked_at_is_the_same_letter_when_it_is_taken),
        CASE(equal_ones_are_two_letters_unless_one_comes_again),
        CASE(without_an_id_what_comes_again_after_a_kill_is_a_letter_of_its_own),
        CASE(with_an_id_what_comes_again_after_a_kill_is_settled),
        CASE(with_an_id_that_is_held_others_are_letters_of_their_own),
        CASE(without_an_id_a_look_stands_for_one_message_each),
        CASE(in_a_full_dlq_nothing_is_asked_for),
        CASE(equal_ones_that_we_handed_back_are_not_ours),
        CASE(in_a_full_dlq_what_was_looked_at_can_be_taken),
        CASE(what_left_its_broker_before_it_was_taken_can_be_decided_about),
        CASE(what_may_lie_with_others_is_not_taken_for_gone),
        CASE(trouble_of_the_broker_is_told_while_it_lasts),
        CASE(an_id_that_is_held_stays_another_messages),
        CASE(what_died_again_where_it_was_sent_to_is_the_same_letter),
        CASE(without_headers_its_id_and_body_tell),
        CASE(two_copies_of_what_came_back_are_one),
        CASE(what_our_own_mirror_published_is_not_doubled),
        CASE(a_mirrors_copy_that_was_changed_or_died_is_a_letter_of_its_own),
        CASE(what_dies_behind_a_decision_is_a_letter_of_its_own),
        CASE(what_is_still_being_sent_is_looked_at_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
