/* Triage rules on made-up time: the store kept in memory, an engine that takes what is due and says
 * at once what became of it. */
#include "triage/rules/triage_rules.h"

#include <stdio.h>
#include <unistd.h>

#include "base/tempdir.h"
#include "store/fake_store.h"
#include "test.h"
#include "triage/archive/archive.h"
#include "triage/query/audit.h"

enum { MINUTE_MS = 60 * 1000, HOUR_MS = 60 * MINUTE_MS, TAKE_MAX = 64, TEXT_MAX = 1 << 20 };

static char folder[64];
static unsigned case_number;
static char root[128];
static struct store *store;
static struct triage triage;
static struct replays *replays;
static struct triage_rules *rules;
static struct instant now;
static struct arena arena;
static struct err err;

/* What the configuration says. */
static struct triage_rule said[4];
static struct triage_dlq dlq;
static bool compensated; /* the queue has a compensating handler */

/* What the engine makes of a letter: it dies again when its id contains this. */
static const char *dies;
static uint64_t handled;
static char first_handled[32];
static struct buf all_handled; /* ids, each with a space behind it */

static struct instant read_clock(struct clock *clock) {
    (void)clock;
    return now;
}
static struct clock test_clock = {.now = read_clock};

static bool queue_is(void *arg, struct bytes name, struct replay_queue *out) {
    (void)arg;
    *out = (struct replay_queue){.max_lag = 1000, .concurrency = 32};
    return bytes_is(name, "orders");
}

static void dlq_says(void *arg, struct bytes name, struct replay_dlq *out) {
    (void)arg;
    (void)name;
    *out = (struct replay_dlq){.max_replays = 10, .fresh_ms = dlq.fresh_ms};
}

static size_t dlqs_of(void *arg, struct arena *room, struct triage_dlq **out) {
    (void)arg;
    *out = arena_alloc(room, 2 * sizeof **out);
    (*out)[0] = (*out)[1] = dlq; /* two queues share it */
    return 2;
}

static bool compensates(void *arg, struct bytes queue) {
    (void)arg;
    (void)queue;
    return compensated;
}

/* ---- the store and the engine ---- */

static void commit(struct store_op op) {
    assert_int_equal(triage_commit(&triage, &op, 1, &err), STATUS_OK);
}

static uint32_t queue_number(void) {
    return store->vtable->queue_number(store, BYTES("orders"));
}

/* What the facts leave open is as with any letter. */
static void put_letter_with(const char *id, struct envelope facts) {
    struct envelope envelope = facts;
    envelope.id = envelope.letter_id = bytes_of(id);
    envelope.dlq = BYTES("orders.dlq");
    envelope.state = STATE_PENDING_REVIEW;
    envelope.content_type = BYTES("application/json");
    if (facts.source.len == 0)
        envelope.source = BYTES("{\"kind\":\"builtin\"}");
    envelope.retry_after_ms = -1;
    envelope.created_at = envelope.first_failure_at = envelope.dead_at = now.wall;
    if (facts.queue.len == 0)
        envelope.queue = BYTES("orders");
    if (facts.category.len == 0)
        envelope.category = BYTES("transient");
    if (facts.reason.len == 0)
        envelope.reason = BYTES("max_attempts:timeout");
    commit((struct store_op){
        .kind = STORE_PUT, .queue = queue_number(), .envelope = &envelope, .body = BYTES("{}")});
    now.wall.ms++;
    now.mono.ms++;
}

static void put_letter(const char *id) {
    put_letter_with(id, (struct envelope){.replays = 0});
}

static void put_letters(const char *name, unsigned count) {
    char id[32];
    for (unsigned i = 0; i < count; i++) {
        snprintf(id, sizeof id, "%s-%02u", name, i);
        put_letter(id);
    }
}

static void handle(struct message *held) {
    struct envelope *envelope = &held->envelope;
    bool dead = bytes_find(envelope->letter_id, bytes_of(dies)) < envelope->letter_id.len;
    buf_bytes(&all_handled, envelope->letter_id);
    buf_char(&all_handled, ' ');
    if (handled++ == 0)
        snprintf(first_handled, sizeof first_handled, "%.*s", BYTES_ARG(envelope->letter_id));
    envelope->resolution = dead                     ? RESOLUTION_NONE
                           : envelope->compensating ? RESOLUTION_COMPENSATED
                                                    : RESOLUTION_REPLAYED;
    if (dead && !envelope->compensating)
        envelope->dead_at = now.wall;
    envelope->state = dead ? STATE_PENDING_REVIEW : STATE_RESOLVED;
    envelope->compensating = 0;
    envelope->next_attempt_at = WALL_NEVER;
    commit((struct store_op){
        .kind = STORE_UPDATE, .queue = queue_number(), .seq = held->seq, .envelope = envelope});
    replays_heard(replays, envelope);
}

static void engine_turn(void) {
    struct message *held[TAKE_MAX];
    size_t count = store->vtable->take(store, queue_number(), TAKE_DUE, now, held, TAKE_MAX);
    for (size_t i = 0; i < count; i++) {
        handle(held[i]);
        message_free(held[i]);
    }
}

static enum status origin_of(void *arg, const struct envelope *letter, char out[REPLAY_ORIGIN_SIZE],
                             struct err *trouble) {
    (void)arg, (void)letter, (void)trouble;
    snprintf(out, REPLAY_ORIGIN_SIZE, "kafka topic orders");
    return STATUS_OK;
}

static void serve(void *arg, struct bytes queue) {
    (void)arg, (void)queue;
}

/* ---- driving ---- */

static void open_life(void) {
    struct replay_around around = {
        .queue = queue_is, .dlq = dlq_says, .origin = origin_of, .serve = serve};
    struct triage_rules_options options = {
        .triage = &triage, .base_dir = bytes_of(root), .dlqs = dlqs_of, .compensates = compensates};
    replays = replays_new(&triage, &around);
    assert_int_equal(replays_recover(replays, &err), STATUS_OK);
    options.replays = replays;
    rules = triage_rules_new(&options);
    assert_int_equal(triage_rules_recover(rules, &err), STATUS_OK);
}

static void close_life(void) {
    triage_rules_free(rules);
    replays_free(replays);
}

static int start(void **state) {
    (void)state;
    snprintf(root, sizeof root, "%s/%u", folder, ++case_number);
    now = (struct instant){{1763182181000}, {5000000}};
    handled = 0;
    buf_init_heap(&all_handled, TEXT_MAX);
    dies = "bad";
    compensated = true;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        triage_rule_init(&said[i]);
    dlq = (struct triage_dlq){.name = BYTES("orders.dlq"),
                              .archive = BYTES("file:archive/"),
                              .rules = said,
                              .rule_count = 1};
    store = fake_store_new(true);
    triage_init(&triage, &test_clock, 7);
    triage.store = store;
    arena_init_heap(&arena, 4096);
    open_life();
    return 0;
}

static int end(void **state) {
    (void)state;
    close_life();
    store->vtable->close(store);
    triage_free(&triage);
    buf_free(&all_handled);
    arena_free(&arena);
    return 0;
}

/* Steps at the times that are asked for, and at least every second. */
static void run_for(int64_t ms) {
    for (int64_t until = now.mono.ms + ms; now.mono.ms < until;) {
        struct mono next = mono_earlier(triage_rules_step(rules, now), replays_step(replays, now));
        engine_turn();
        int64_t gap = next.ms == MONO_NEVER.ms ? 1000 : next.ms - now.mono.ms;
        gap = gap < 1 ? 1 : gap > 1000 ? 1000 : gap;
        now.mono.ms += gap;
        now.wall.ms += gap;
    }
}

static struct triage_rules_totals totals(void) {
    struct triage_rules_totals out;
    triage_rules_totals(rules, BYTES("orders.dlq"), &out);
    return out;
}

static struct bytes shown(void) {
    struct buf text;
    buf_init_heap(&text, TEXT_MAX);
    struct json_out json = json_out(&text);
    triage_rules_put(rules, BYTES("orders.dlq"), &json);
    struct bytes copy = arena_dup(&arena, buf_view(&text));
    buf_free(&text);
    return copy;
}

static struct bytes audited(void) {
    struct buf text;
    buf_init_heap(&text, TEXT_MAX);
    assert_int_equal(audit_list(&triage, BYTES_NONE, 100, &text, &err), STATUS_OK);
    struct bytes copy = arena_dup(&arena, buf_view(&text));
    buf_free(&text);
    return copy;
}

static bool says(struct bytes text, const char *what) {
    return bytes_find(text, bytes_of(what)) < text.len;
}

static enum state state_of(const char *id) {
    struct message *held = NULL;
    assert_int_equal(letters_get(store->letters, BYTES_NONE, bytes_of(id), &held, &err), STATUS_OK);
    enum state is = held->envelope.state;
    message_free(held);
    return is;
}

static bool is_escalated(const char *id) {
    struct message *held = NULL;
    assert_int_equal(letters_get(store->letters, BYTES_NONE, bytes_of(id), &held, &err), STATUS_OK);
    bool yes = held->envelope.escalated_at.ms != WALL_NEVER.ms;
    message_free(held);
    return yes;
}

static uint64_t depth(void) {
    return store->vtable->dlq_depth(store, BYTES("orders.dlq"));
}

/* ---- what is promised ---- */

static void a_rule_runs_on_its_schedule_and_takes_the_oldest(void **state) {
    (void)state;
    said[0].limit = 3;
    put_letters("good", 5);
    run_for(14 * MINUTE_MS);
    assert_int_equal(handled, 0);
    run_for(2 * MINUTE_MS);
    assert_int_equal(handled, 3);
    assert_string_equal(first_handled, "good-00");
    assert_int_equal(state_of("good-02"), STATE_RESOLVED);
    assert_int_equal(state_of("good-03"), STATE_PENDING_REVIEW);
    assert_true(says(audited(), "\"who\":\"triage:orders.dlq[0]\",\"what\":\"replay.start\""));
    run_for(15 * MINUTE_MS);
    assert_int_equal(handled, 5);
    assert_int_equal(totals().letters[TRIAGE_REPLAY], 5);
    assert_int_equal(totals().fixed, 5);
    assert_true(says(shown(), "\"state\":\"waiting\",\"why\":null"));
}

static void a_rule_that_does_not_help_waits_longer_and_stops(void **state) {
    (void)state;
    put_letters("bad", 10);
    run_for(16 * MINUTE_MS);
    assert_int_equal(handled, 10); /* no canary: each is judged by itself */
    assert_true(says(shown(), "\"useless\":1"));
    run_for(28 * MINUTE_MS);
    assert_int_equal(handled, 10);
    run_for(2 * MINUTE_MS);
    assert_int_equal(handled, 20);
    run_for(62 * MINUTE_MS);
    assert_int_equal(handled, 30);
    assert_int_equal(totals().stopped, 1);
    assert_true(says(shown(), "\"state\":\"stopped\",\"why\":\"3 runs in a row did not help"));
    assert_true(says(audited(), "\"what\":\"triage.stop\""));
    run_for(24 * HOUR_MS);
    assert_int_equal(handled, 30);
    assert_int_equal(depth(), 10);
}

static void a_letter_that_keeps_dying_does_not_stand_in_the_way(void **state) {
    (void)state;
    put_letter("bad");
    put_letters("good", 20);
    run_for(3 * HOUR_MS);
    assert_int_equal(totals().fixed, 20);
    assert_int_equal(totals().stopped, 0);
    assert_int_equal(depth(), 1);
}

static void letters_of_one_key_keep_their_order(void **state) {
    (void)state;
    put_letter_with("bad-first", (struct envelope){.key = BYTES("k")});
    put_letter_with("bad-second", (struct envelope){.key = BYTES("k")});
    run_for(40 * MINUTE_MS); /* two runs */
    assert_bytes(buf_view(&all_handled), "bad-first bad-second bad-first bad-second ");
}

static void stop_it(void) {
    put_letters("bad", 10);
    run_for(2 * HOUR_MS);
    assert_int_equal(totals().stopped, 1);
    dies = "never";
}

static void a_rule_that_stopped_goes_on_when_somebody_says_so(void **state) {
    (void)state;
    stop_it();
    assert_int_equal(
        triage_rules_resume(rules, BYTES("orders.dlq"), BYTES("ada"), BYTES("fixed in 1.4"), &err),
        STATUS_OK);
    run_for(MINUTE_MS);
    assert_int_equal(depth(), 0);
    assert_int_equal(totals().stopped, 0);
    assert_true(says(audited(), "\"who\":\"ada\",\"what\":\"triage.resume\""));
    assert_int_equal(
        triage_rules_resume(rules, BYTES("orders.dlq"), BYTES("ada"), BYTES_NONE, &err),
        STATUS_CONFLICT);
    assert_int_equal(triage_rules_resume(rules, BYTES("nobody"), BYTES("ada"), BYTES_NONE, &err),
                     STATUS_NOT_FOUND);
}

static void a_rule_that_stopped_goes_on_when_it_is_another(void **state) {
    (void)state;
    stop_it();
    triage_rules_reload(rules); /* the same file */
    run_for(HOUR_MS);
    assert_int_equal(totals().stopped, 1);
    struct triage_rule other = said[0];
    other.limit = 4;
    dlq.rules = &other;
    triage_rules_reload(rules);
    run_for(16 * MINUTE_MS);
    assert_int_equal(totals().stopped, 0);
    assert_int_equal(depth(), 6);
    dlq.rule_count = 0;
    triage_rules_reload(rules);
    run_for(HOUR_MS);
    assert_int_equal(depth(), 6);
    assert_int_equal(totals().fixed, 4); /* what was, was */
    assert_bytes(shown(), "[]");
    dlq.rules = said;
}

static void letters_that_a_rule_must_not_touch(void **state) {
    (void)state;
    said[0].when.category = BYTES("transient");
    said[0].when.replays_most = 1;
    said[0].when.age_ms = 10 * MINUTE_MS;
    put_letter_with("other", (struct envelope){.category = BYTES("bug")});
    put_letter_with("escalated", (struct envelope){.escalated_at = now.wall});
    put_letter_with("looked at", (struct envelope){.read_only = true});
    put_letter_with("often", (struct envelope){.replays = 2});
    put_letter_with("once", (struct envelope){.replays = 1});
    run_for(12 * MINUTE_MS);
    put_letter("young");
    run_for(4 * MINUTE_MS);
    assert_int_equal(handled, 1);
    assert_string_equal(first_handled, "once");
}

/* One letter is as the rule wants it; each other one differs in one respect. */
static void all_conditions_must_match(void **state) {
    (void)state;
    static const struct envelope wanted = {.category = {"bug", 3},
                                           .reason = {"no_key:price", 12},
                                           .key = {"k1", 2},
                                           .error_type = {"KeyError", 8},
                                           .cause = CAUSE_CRASH,
                                           .fingerprint = 0xff,
                                           .attempts = 3,
                                           .failed = true};
    struct envelope other[7];
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        other[i] = wanted;
    other[0].category = BYTES("bugs");
    other[1].reason = BYTES("no_price");
    other[2].key = BYTES("k2");
    other[3].error_type = BYTES("Key");
    other[4].cause = CAUSE_TERMINAL;
    other[5].fingerprint = 0xfe;
    other[6].attempts = 2;
    said[0].action = TRIAGE_DISCARD;
    said[0].when = (struct triage_when){.category = BYTES("bug"),
                                        .reason = BYTES("no_key"),
                                        .key = BYTES("k1"),
                                        .error_type = BYTES("KeyError"),
                                        .has_cause = true,
                                        .cause = CAUSE_CRASH,
                                        .has_fingerprint = true,
                                        .fingerprint = 0xff,
                                        .attempts = 3,
                                        .replays_most = TRIAGE_REPLAYS_MOST};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        char id[16];
        snprintf(id, sizeof id, "other-%zu", i);
        put_letter_with(id, other[i]);
    }
    put_letter_with("wanted", wanted);
    run_for(16 * MINUTE_MS);
    assert_int_equal(state_of("wanted"), STATE_DISCARDED);
    assert_int_equal(depth(), sizeof other / sizeof *other);
}

static void a_letter_is_sent_for_its_lifetime_and_then_another_rule_may_have_it(void **state) {
    (void)state;
    said[0].lifetime_ms = HOUR_MS;
    said[0].stop_after = 100;
    said[0].backoff_ms = said[0].every_ms;
    said[1].action = TRIAGE_ESCALATE;
    said[1].when.age_ms = HOUR_MS;
    dlq.rule_count = 2;
    put_letter("good-old");
    dies = "good";
    run_for(HOUR_MS - 5 * MINUTE_MS);
    assert_int_equal(handled, 3); /* at 15, 30 and 45 minutes */
    dies = "never";
    run_for(12 * MINUTE_MS);
    assert_int_equal(handled, 3);
    run_for(2 * HOUR_MS); /* an hour after it last died */
    assert_true(is_escalated("good-old"));
    assert_int_equal(totals().letters[TRIAGE_ESCALATE], 1);
    assert_int_equal(totals().escalated, 1);
}

static void stale_letters_are_left_alone(void **state) {
    (void)state;
    dlq.fresh_ms = 5 * MINUTE_MS;
    put_letter("good");
    run_for(HOUR_MS);
    assert_int_equal(handled, 0);
    assert_int_equal(totals().letters[TRIAGE_REPLAY], 0);
}

static void letters_of_another_replay_are_left_alone(void **state) {
    (void)state;
    struct replay_order order;
    char id[UUID_TEXT_SIZE];
    struct bytes ids[] = {BYTES("good-00"), BYTES("good-01")};
    put_letters("good", 3);
    replay_order_init(&order);
    order.selection.ids = ids;
    order.selection.id_count = 2;
    assert_int_equal(selection_finish(&order.selection, &err), STATUS_OK);
    assert_int_equal(replays_start(replays, &order, id, &err), STATUS_OK);
    assert_int_equal(
        replays_change(replays, bytes_of(id), REPLAY_PAUSE, BYTES("ada"), BYTES_NONE, &err),
        STATUS_OK);
    run_for(HOUR_MS);
    assert_int_equal(handled, 1);
    assert_string_equal(first_handled, "good-02");
}

static void letters_of_a_queue_that_is_gone_are_left_alone(void **state) {
    (void)state;
    put_letter_with("good-gone", (struct envelope){.queue = BYTES("gone")});
    put_letter("good");
    run_for(16 * MINUTE_MS);
    assert_int_equal(totals().fixed, 1);
    assert_int_equal(state_of("good-gone"), STATE_PENDING_REVIEW);
}

static void letters_whose_message_is_gone_are_left_alone(void **state) {
    (void)state;
    put_letter_with("good-gone", (struct envelope){.source = BYTES("{\"gone\":true}")});
    put_letter("good");
    run_for(16 * MINUTE_MS);
    assert_int_equal(totals().fixed, 1);
    assert_int_equal(state_of("good-gone"), STATE_PENDING_REVIEW);
}

static void letters_that_were_lost_or_are_in_doubt_are_not_sent_to_their_origin(void **state) {
    (void)state;
    said[0].to = BYTES("origin");
    put_letter_with("good-doubt", (struct envelope){.source = BYTES("{\"why\":\"younger\"}")});
    put_letter_with(
        "good-edited",
        (struct envelope){.source = BYTES("{\"gone\":true}"), .edited = true, .size = 9});
    put_letter("good");
    run_for(16 * MINUTE_MS);
    assert_int_equal(state_of("good"), STATE_RESOLVED);
    assert_int_equal(state_of("good-doubt"), STATE_PENDING_REVIEW);
    assert_int_equal(state_of("good-edited"), STATE_PENDING_REVIEW);
}

static void discards_are_on_record(void **state) {
    (void)state;
    said[0].action = TRIAGE_DISCARD;
    put_letters("good", 3);
    run_for(16 * MINUTE_MS);
    assert_int_equal(state_of("good-00"), STATE_DISCARDED);
    assert_int_equal(depth(), 0);
    assert_int_equal(totals().letters[TRIAGE_DISCARD], 3);
    assert_true(says(audited(), "\"who\":\"triage:orders.dlq[0]\",\"what\":\"discard\",\"why\":"
                                "\"triage rule orders.dlq[0]: discard\""));
}

static void archived_letters_are_on_disk_before_they_go(void **state) {
    (void)state;
    char path[256];
    struct buf text;
    said[0].action = TRIAGE_ARCHIVE;
    put_letters("good", 3);
    FILE *file = fopen(root, "w"); /* where the folder should be */
    assert_non_null(file);
    fclose(file);
    run_for(16 * MINUTE_MS);
    assert_int_equal(depth(), 3);
    assert_true(says(shown(), "\"state\":\"waiting\",\"why\":\""));
    unlink(root);
    run_for(MINUTE_MS); /* it is tried again soon */
    assert_int_equal(depth(), 0);
    assert_int_equal(letters_get(store->letters, BYTES_NONE, BYTES("good-00"), NULL, &err),
                     STATUS_NOT_FOUND);
    buf_init_heap(&text, TEXT_MAX);
    struct json_out json = json_out(&text);
    snprintf(path, sizeof path, "%s/archive/orders.dlq", root);
    assert_int_equal(archive_list(bytes_of(path), &json, &err), STATUS_OK);
    assert_true(says(buf_view(&text), "\"letters\":3"));
    assert_true(says(audited(), "\"what\":\"archive\""));
    assert_true(says(audited(), "\"after\":{\"archive\":\"letters-"));
    buf_free(&text);
}

static void a_failed_compensation_is_for_people(void **state) {
    (void)state;
    said[0].action = TRIAGE_COMPENSATE;
    put_letters("good", 3);
    put_letter("bad");
    run_for(16 * MINUTE_MS);
    assert_int_equal(state_of("good-00"), STATE_RESOLVED);
    assert_int_equal(handled, 4);
    assert_true(is_escalated("bad"));
    assert_true(says(audited(), "\"what\":\"escalate\",\"why\":\"its compensation failed\""));
    assert_int_equal(totals().fixed, 3);
    assert_int_equal(totals().failed, 1);
    run_for(2 * HOUR_MS);
    assert_int_equal(handled, 4);
    compensated = false;
    put_letter("other");
    run_for(HOUR_MS);
    assert_int_equal(handled, 4);
    assert_int_equal(totals().letters[TRIAGE_COMPENSATE], 4);
}

static void a_ticket_is_told_once(void **state) {
    (void)state;
    struct bytes to[] = {BYTES("pager")};
    struct triage_rules_news *news;
    said[0].action = TRIAGE_ESCALATE;
    said[0].tell = to;
    said[0].tell_count = 1;
    put_letters("good", 2);
    run_for(15 * MINUTE_MS + 30 * 1000);
    assert_int_equal(triage_rules_news(rules, &arena, &news), 1);
    assert_true(news[0].ticket && news[0].to_count == 1);
    assert_true(bytes_starts(news[0].subject, BYTES("orders.dlq/0/")));
    struct bytes subject = news[0].subject;
    close_life();
    open_life();
    run_for(30 * 1000); /* the next life goes on telling the same */
    assert_int_equal(triage_rules_news(rules, &arena, &news), 1);
    assert_true(bytes_eq(news[0].subject, subject));
    run_for(2 * MINUTE_MS);
    assert_int_equal(triage_rules_news(rules, &arena, &news), 0);
    close_life();
    open_life();
    run_for(MINUTE_MS);
    assert_int_equal(triage_rules_news(rules, &arena, &news), 0);
}

static void without_names_a_ticket_is_for_everybody_and_holds_up_nothing(void **state) {
    (void)state;
    struct triage_rules_news *news;
    said[0].action = TRIAGE_ESCALATE;
    said[0].every_ms = 10 * 1000;
    put_letters("good", 2);
    run_for(15 * 1000);
    assert_int_equal(triage_rules_news(rules, &arena, &news), 1);
    assert_true(news[0].ticket && news[0].to_count == 0);
    assert_true(says(news[0].words, "2 letters escalated"));
    struct bytes subject = news[0].subject;
    put_letter("late");
    run_for(20 * 1000); /* within the minute: taken at once, and part of the same */
    assert_true(is_escalated("late"));
    assert_int_equal(triage_rules_news(rules, &arena, &news), 1);
    assert_true(bytes_eq(news[0].subject, subject) && says(news[0].words, "3 letters escalated"));
    run_for(MINUTE_MS);
    assert_int_equal(triage_rules_news(rules, &arena, &news), 0);
    put_letter("later");
    run_for(20 * 1000);
    assert_int_equal(triage_rules_news(rules, &arena, &news), 1);
    assert_false(bytes_eq(news[0].subject, subject));
    assert_true(says(news[0].words, "1 letters escalated"));
}

/* Lives end wherever they are; each letter is taken once, each window run once. */
static void a_new_life_neither_repeats_nor_forgets(void **state) {
    (void)state;
    said[0].limit = 2;
    put_letters("good", 6);
    for (int i = 0; i < 60; i++) {
        run_for(MINUTE_MS + 313 * i);
        close_life();
        open_life();
    }
    assert_int_equal(handled, 6);
    assert_int_equal(totals().fixed, 6);
    assert_int_equal(totals().letters[TRIAGE_REPLAY], 6);
    assert_int_equal(depth(), 0);
}

static void a_store_that_refuses_is_asked_again(void **state) {
    (void)state;
    said[0].action = TRIAGE_DISCARD;
    put_letters("good", 2);
    fake_store_fail(store, STATUS_IO, 3);
    run_for(14 * MINUTE_MS);
    assert_int_equal(depth(), 2);
    fake_store_fail(store, STATUS_IO, 3);
    run_for(3 * MINUTE_MS);
    assert_int_equal(depth(), 0);
    assert_int_equal(totals().letters[TRIAGE_DISCARD], 2);
}

/* The wall was set back by a day while it waited, and again between two lives. */
static void a_clock_that_jumps_only_starts_the_wait_again(void **state) {
    (void)state;
    put_letter("good");
    run_for(10 * MINUTE_MS);
    now.wall.ms -= 24 * HOUR_MS;
    run_for(6 * MINUTE_MS);
    assert_int_equal(handled, 1);
    close_life();
    now.wall.ms -= 24 * HOUR_MS;
    put_letter("good-2");
    open_life();
    run_for(16 * MINUTE_MS);
    assert_int_equal(handled, 2);
}

static int make_folder(void **state) {
    (void)state;
    return tempdir_make("/tmp", "impound-triage-rules", folder, sizeof folder, NULL) ? -1 : 0;
}

static int remove_folder(void **state) {
    (void)state;
    tempdir_remove(folder);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_rule_runs_on_its_schedule_and_takes_the_oldest),
        TEST(a_rule_that_does_not_help_waits_longer_and_stops),
        TEST(a_letter_that_keeps_dying_does_not_stand_in_the_way),
        TEST(letters_of_one_key_keep_their_order),
        TEST(a_rule_that_stopped_goes_on_when_somebody_says_so),
        TEST(a_rule_that_stopped_goes_on_when_it_is_another),
        TEST(letters_that_a_rule_must_not_touch),
        TEST(all_conditions_must_match),
        TEST(a_letter_is_sent_for_its_lifetime_and_then_another_rule_may_have_it),
        TEST(stale_letters_are_left_alone),
        TEST(letters_of_another_replay_are_left_alone),
        TEST(letters_of_a_queue_that_is_gone_are_left_alone),
        TEST(letters_whose_message_is_gone_are_left_alone),
        TEST(letters_that_were_lost_or_are_in_doubt_are_not_sent_to_their_origin),
        TEST(discards_are_on_record),
        TEST(archived_letters_are_on_disk_before_they_go),
        TEST(a_failed_compensation_is_for_people),
        TEST(a_ticket_is_told_once),
        TEST(without_names_a_ticket_is_for_everybody_and_holds_up_nothing),
        TEST(a_new_life_neither_repeats_nor_forgets),
        TEST(a_store_that_refuses_is_asked_again),
        TEST(a_clock_that_jumps_only_starts_the_wait_again),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
