/* What goes back to a list or a stream is as it came, and known when it comes again. */
#include "test.h"

#include "broker/redis/redis_entry.h"
#include "broker/redis/redis_message.h"
#include "core/comeback.h"

#define LETTER "01909af4-0000-7000-8000-000000000001"

static const struct rule_header marks[] = {{BYTES(COMEBACK_LETTER), BYTES(LETTER)},
                                           {BYTES(COMEBACK_REPLAYS), BYTES("2")}};

static struct arena arena;
static struct redis_entry entry;

static int begin(void **state) {
    (void)state;
    arena_init_heap(&arena, 4096);
    return 0;
}

static int end(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

/* The words, with spaces between them. */
static const char *words(void) {
    struct buf text;
    buf_init_heap(&text, 1 << 16);
    for (size_t i = 0; i < entry.count; i++) {
        buf_str(&text, i ? " " : "");
        buf_bytes(&text, entry.words[i]);
    }
    const char *all = arena_cstr(&arena, buf_view(&text));
    buf_free(&text);
    return all;
}

static struct sink_item item_back(struct message *held) {
    struct envelope *letter = &held->envelope;
    struct sink_item item = {.body = held->body,
                             .key = letter->key,
                             .content_type = letter->content_type,
                             .origin = letter->source};
    letter->letter_id = BYTES(LETTER);
    letter->replays = 2;
    item.header_count = comeback_headers(letter, &held->arena, &item.headers);
    return item;
}

static void send_back(struct message *held) {
    struct sink_item item = item_back(held);
    assert_int_equal(redis_entry_return(&entry, &item, &arena, NULL), STATUS_OK);
}

/* The fields of the entry, as a reader would see them. */
static struct message *read_again(void) {
    struct redis_message_field fields[16];
    size_t count = 0;
    for (size_t i = 3; i + 1 < entry.count; i += 2)
        fields[count++] = (struct redis_message_field){entry.words[i], entry.words[i + 1]};
    return redis_message_of_entry(BYTES("orders"), BYTES("g"), BYTES("2-0"), fields, count);
}

static void assert_marked(const struct message *held) {
    struct comeback comeback;
    assert_true(comeback_read(held->envelope.headers, held->envelope.header_count, &comeback));
    assert_bytes(comeback.letter, LETTER);
    assert_int_equal(comeback.replays, 2);
}

#define MARKS COMEBACK_LETTER " " LETTER " " COMEBACK_REPLAYS " 2"

static void an_entry_goes_back_in_the_form_that_it_had(void **state) {
    (void)state;
    static const struct {
        struct redis_message_field fields[3];
        size_t count;
        const char *words;
    } cases[] = {
        {{{BYTES("body"), BYTES("{}")}}, 1, "body {} " MARKS},
        {{{BYTES("body"), BYTES("{}")}, {BYTES("key"), BYTES("k")}, {BYTES("h"), BYTES("v")}},
         3,
         "body {} key k h v " MARKS},
        {{{BYTES("body"), BYTES("x")}, {BYTES("content_type"), BYTES("a/b")}},
         2,
         "body x content_type a/b " MARKS},
        {{{BYTES("payload"), BYTES("hello")}}, 1, "payload hello " MARKS},
        {{{BYTES("a\""), BYTES("1")}, {BYTES("b"), BYTES("two\n")}}, 2, "a\" 1 b two\n " MARKS},
        {{{BYTES("a"), BYTES("\xff\xfe")}, {BYTES("\x80n"), BYTES("2")}},
         2,
         "a \xff\xfe \x80n 2 " MARKS},
        {{{BYTES("base64:YQ=="), BYTES("{\"base64\":\"YQ==\"}")}, {BYTES("b"), BYTES("")}},
         2,
         "base64:YQ== {\"base64\":\"YQ==\"} b  " MARKS},
        {{{BYTES("\xffp"), BYTES("\xc3(")}}, 1, "\xffp \xc3( " MARKS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct message *held = redis_message_of_entry(BYTES("orders"), BYTES("g"), BYTES("1-0"),
                                                      cases[i].fields, cases[i].count);
        send_back(held);
        assert_true(bytes_starts(bytes_of(words()), BYTES("XADD orders * ")));
        assert_string_equal(words() + sizeof "XADD orders * " - 1, cases[i].words);
        struct message *again = read_again();
        assert_true(bytes_eq(again->body, held->body));
        assert_true(bytes_eq(again->envelope.key, held->envelope.key));
        assert_int_equal(again->envelope.header_count, held->envelope.header_count + 2);
        assert_marked(again);
        message_free(held);
        message_free(again);
    }
}

static void an_edited_body_that_is_no_object_any_more_is_a_body(void **state) {
    (void)state;
    static const struct redis_message_field fields[] = {{BYTES("a"), BYTES("1")},
                                                        {BYTES("b"), BYTES("2")}};
    struct message *held =
        redis_message_of_entry(BYTES("orders"), BYTES("g"), BYTES("1-0"), fields, 2);
    held->body = BYTES("[7]");
    send_back(held);
    assert_string_equal(words(), "XADD orders * body [7] " MARKS);
    message_free(held);
}

/* A part of an entry must not be taken for the whole. */
static void an_entry_with_too_many_fields_is_refused(void **state) {
    (void)state;
    static struct redis_message_field fields[REDIS_ENTRY_WORDS_MAX / 2];
    const size_t count = sizeof fields / sizeof *fields;
    struct err err;
    for (size_t i = 0; i < count; i++)
        fields[i] = (struct redis_message_field){BYTES("f"), BYTES("v")};
    struct message *held =
        redis_message_of_entry(BYTES("orders"), BYTES("g"), BYTES("1-0"), fields, count);
    struct sink_item item = {.body = held->body, .origin = held->envelope.source};
    assert_int_equal(redis_entry_return(&entry, &item, &arena, &err), STATUS_INVALID);
    assert_non_null(strstr(err.text, "more than 510 fields"));
    message_free(held);
}

static void an_element_leaves_its_mark_beside_its_list(void **state) {
    (void)state;
    struct message *held = redis_message_of_element(BYTES("q:main"), BYTES(".id"), BYTES("tag"),
                                                    BYTES("{\"id\":\"a\"}"));
    send_back(held);
    assert_int_equal(entry.count, 7);
    assert_bytes(entry.words[0], "EVAL");
    assert_bytes(entry.words[3], "q:main");
    assert_bytes(entry.words[4], "q:main:impound-sent");
    assert_bytes(entry.words[5], "{\"id\":\"a\"}");
    assert_bytes(entry.words[6], LETTER ":2");
    message_free(held);
}

static void a_tag_with_a_mark_is_a_letter_that_came_back(void **state) {
    (void)state;
    struct message *held = redis_message_of_element(BYTES("q:main"), BYTES(".id"),
                                                    BYTES("tag|" LETTER ":2"), BYTES("plain"));
    assert_bytes(held->envelope.id, "tag");
    assert_marked(held);
    message_free(held);
}

static void what_does_not_go_back_leaves_no_mark(void **state) {
    (void)state;
    struct sink_item item = {.body = BYTES("x"), .headers = marks, .header_count = 2};
    redis_entry_push(&entry, BYTES("l"), &item, &arena);
    assert_string_equal(words(), "LPUSH l x");
}

static void a_letter_whose_id_could_not_be_a_mark_goes_without(void **state) {
    (void)state;
    static const char *const ids[] = {"a|b", "a,b", "a:b", "a\n"};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct rule_header headers[] = {{BYTES(COMEBACK_LETTER), bytes_of(ids[i])}, marks[1]};
        struct sink_item item = {.body = BYTES("x"),
                                 .headers = headers,
                                 .header_count = 2,
                                 .origin = BYTES("{\"list\":\"l\"}")};
        assert_int_equal(redis_entry_return(&entry, &item, &arena, NULL), STATUS_OK);
        assert_string_equal(words(), "LPUSH l x");
    }
}

#define TASK_ORIGIN                                                                                \
    "{\"kind\":\"redis\",\"asynq\":\"mail\",\"id\":\"t-1\",\"task\":\"CgFhGgN0LTE=\"}"
#define TASK_BARE                                                                                  \
    "\x0a\x01"                                                                                     \
    "a"                                                                                            \
    "\x1a\x03"                                                                                     \
    "t-1"

static void a_task_of_asynq_has_its_payload_again(void **state) {
    (void)state;
    static char large[300];
    memset(large, 'x', sizeof large);
    const struct {
        struct bytes body, behind;
    } cases[] = {
        {BYTES("hi"), BYTES("\x12\x02")},
        {{large, sizeof large}, BYTES("\x12\xac\x02")},
        {BYTES(""), BYTES("")},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sink_item item = {.body = cases[i].body, .origin = BYTES(TASK_ORIGIN)};
        assert_int_equal(redis_entry_return(&entry, &item, &arena, NULL), STATUS_OK);
        assert_int_equal(entry.count, 7);
        assert_bytes(entry.words[3], "asynq:{mail}:t:t-1");
        assert_bytes(entry.words[4], "asynq:{mail}:pending");
        assert_bytes(entry.words[5], "t-1");
        struct bytes bare = BYTES(TASK_BARE), message = entry.words[6];
        size_t head = bare.len + cases[i].behind.len;
        assert_true(bytes_eq(bytes_cut(message, 0, bare.len), bare));
        assert_true(bytes_eq(bytes_cut(message, bare.len, head), cases[i].behind));
        assert_true(bytes_eq(bytes_cut(message, head, message.len), cases[i].body));
    }
}

static void a_source_that_names_no_list_and_no_stream_is_refused(void **state) {
    (void)state;
    static const char *const origins[] = {
        "{}",
        "no",
        "{\"list\":7}",
        "{\"kind\":\"builtin\"}",
        "{\"asynq\":\"mail\"}",
        "{\"asynq\":\"mail\",\"id\":\"t-1\",\"task\":\"no base64\"}",
    };
    struct err err;
    for (size_t i = 0; i < sizeof origins / sizeof *origins; i++) {
        struct sink_item item = {.body = BYTES("x"), .origin = bytes_of(origins[i])};
        assert_int_equal(redis_entry_return(&entry, &item, &arena, &err), STATUS_INVALID);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entry_goes_back_in_the_form_that_it_had),
        cmocka_unit_test(an_edited_body_that_is_no_object_any_more_is_a_body),
        cmocka_unit_test(an_entry_with_too_many_fields_is_refused),
        cmocka_unit_test(an_element_leaves_its_mark_beside_its_list),
        cmocka_unit_test(a_tag_with_a_mark_is_a_letter_that_came_back),
        cmocka_unit_test(what_does_not_go_back_leaves_no_mark),
        cmocka_unit_test(a_letter_whose_id_could_not_be_a_mark_goes_without),
        cmocka_unit_test(a_task_of_asynq_has_its_payload_again),
        cmocka_unit_test(a_source_that_names_no_list_and_no_stream_is_refused),
    };
    return cmocka_run_group_tests_name("redis_entry", tests, begin, end);
}
