/* Which settings of a configuration are named because their meaning changed (SEMANTICS 17). Each
 * change has a configuration that it concerns and one that it does not. */
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/what_if/behaviour.h"

#define HTTP "handler: {http: \"http://h/\"}"
#define QUIET                                                                                      \
    "classify: {presets: []}, breaker: off, flood: {then: off}, dlq: {on_full: spill, archive: "   \
    "\"file:a\"}"
/* A queue that no change concerns, and one with something more or else. */
#define NOTHING      "alerts: {defaults: off}\nqueues: {q: {handler: lease, " QUIET "}}"
#define Q(words)     "alerts: {defaults: off}\nqueues: {q: {" words "}}"
#define ADOPT(words) NOTHING "\nadopt: [{name: old, dlq: old.dlq, " words "}]"

static void put(const char *yaml, struct buf *out) {
    struct buf mistakes;
    struct config *config;
    buf_init_heap(&mistakes, 1 << 16);
    if (config_parse(bytes_of(yaml), "i.yaml", &config, &mistakes) != STATUS_OK)
        fail_msg("%s", buf_cstr(&mistakes));
    behaviour_put(config, 0, out);
    config_free(config);
    buf_free(&mistakes);
}

static bool names(const char *yaml, const char *setting) {
    struct buf text;
    char line[128];
    buf_init_heap(&text, 1 << 16);
    put(yaml, &text);
    snprintf(line, sizeof line, "changed in 0.1.0: %s", setting);
    bool found = strstr(buf_cstr(&text), line) != NULL;
    buf_free(&text);
    return found;
}

static const struct {
    const char *setting; /* with what follows it in the line */
    const char *concerned, *not ;
} rows[] = {
    {"classify.presets: errors (queue q): ", Q("handler: {exec: [x]}"), Q(HTTP)},
    {"poison.crashes (queue q): ", Q(HTTP), NOTHING},
    {"dlq.triage (queue q): ",
     Q("handler: lease, dlq: {triage: [{when: {category: bug}, do: discard}]}"), NOTHING},
    {"classify.presets (queue q): ", Q(HTTP), NOTHING},
    {"classify.presets: ai-api (queue q): ", Q(HTTP ", classify: {presets: [ai-api]}"), Q(HTTP)},
    {"fallback (queue q): ", Q(HTTP ", fallback: [{http: \"http://i/\"}]"), Q(HTTP)},
    {"compensate (queue q): ", Q(HTTP ", compensate: {http: \"http://i/\"}"), Q(HTTP)},
    {"breaker.open (queue q): ", Q(HTTP), NOTHING},
    {"retry.attempts and retry.max_age (queue q): ", Q(HTTP), NOTHING},
    {"retry.retry_after_cap (queue q): ", Q(HTTP), NOTHING},
    {"dlq.on_full: block (queue q): ", Q(HTTP), NOTHING},
    {"flood (queue q): ", Q(HTTP), Q(HTTP ", flood: {then: hold}")},
    {"source (queue q): ", Q(HTTP ", source: \"redis://h/0?list=l\""), Q(HTTP)},
    {"poison.deliveries (queue q): ", Q(HTTP ", source: \"nats://h?stream=S&consumer=c\""),
     Q(HTTP ", source: \"redis://h/0?list=l\"")},
    {"source: amqp (queue q): ", Q(HTTP ", source: \"amqp://h/?queue=q\""),
     Q(HTTP ", source: \"redis://h/0?list=l\"")},
    {"dlq.mirror: amqp (queue q): ", Q(HTTP ", dlq: {mirror: \"amqp://h/?queue=dead\"}"),
     Q(HTTP ", dlq: {mirror: \"redis://h/0?list=dead\"}")},
    {"alerts.defaults: ", "queues: {q: {handler: lease}}", NOTHING},
    {"limit: ", NOTHING, NULL},
    {"adopt.mode: take: ", ADOPT("source: \"redis://h/0?list=l\", mode: take"),
     ADOPT("source: \"redis://h/0?list=l\", mode: peek")},
    {"adopt.source: amqp: ", ADOPT("source: \"amqp://h/?queue=q\""),
     ADOPT("source: \"redis://h/0?list=l\"")},
    {"jq programs: ", Q(HTTP ", fallback: [{http: \"http://i/\", edit: '.a = 1'}]"), NOTHING},
};
enum { ROWS = sizeof rows / sizeof *rows };

static void each_change_is_named_where_it_concerns_something(void **state) {
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        if (!names(rows[i].concerned, rows[i].setting))
            fail_msg("\"%s\" is not named for %s", rows[i].setting, rows[i].concerned);
        if (rows[i].not &&names(rows[i].not, rows[i].setting))
            fail_msg("\"%s\" is named for %s", rows[i].setting, rows[i].not );
    }
}

static size_t count_lines(const char *yaml) {
    struct buf text;
    size_t count = 0;
    buf_init_heap(&text, 1 << 16);
    put(yaml, &text);
    for (struct bytes rest = buf_view(&text), line; bytes_line(&rest, &line);)
        count++;
    buf_free(&text);
    return count;
}

static void a_configuration_that_uses_everything_is_told_of_every_row_once(void **state) {
    (void)state;
    static const char everything[] =
        "queues:\n"
        "  q:\n"
        "    " HTTP "\n"
        "    source: \"amqp://h/?queue=q\"\n"
        "    fallback: [{http: \"http://i/\", edit: '.a = 1'}]\n"
        "    compensate: {http: \"http://i/\"}\n"
        "    classify: {presets: [ai-api, errors]}\n"
        "    dlq: {mirror: \"amqp://h/?queue=dead\", triage: [{when: {category: bug}, do: "
        "discard}]}\n"
        "  n: {" HTTP ", source: \"nats://h?stream=S&consumer=c\"}\n"
        "adopt: [{name: old, dlq: old.dlq, source: \"amqp://h/?queue=o\", mode: take}]\n";
    assert_int_equal(count_lines(everything), ROWS);
    assert_int_equal(count_lines(NOTHING), 1); /* limit, which is no key of the file */
}

static void queues_are_counted_behind_the_first(void **state) {
    (void)state;
    static const char three[] =
        "queues: {a: {handler: lease}, b: {" HTTP "}, c: {" HTTP "}, d: {" HTTP "}}";
    assert_true(names(three, "poison.crashes (queue b and 2 more): "));
}

/* A key that a line names stands in the changelog too. */
static void every_setting_is_in_the_changelog(void **state) {
    (void)state;
    struct buf text;
    char chunk[4096];
    buf_init_heap(&text, 1 << 20);
    int file = open(CHANGELOG, O_RDONLY);
    assert_true(file >= 0);
    for (ssize_t got; (got = read(file, chunk, sizeof chunk)) > 0;)
        buf_put(&text, chunk, (size_t)got);
    close(file);
    static const char *const words[] = {"`errors`",
                                        "connection reset",
                                        "triage rule",
                                        "`halt` of a preset",
                                        "`ai-api`",
                                        "fallback",
                                        "compensation",
                                        "`breaker.open`",
                                        "`probes`",
                                        "`retry_after_cap`",
                                        "`on_full: block`",
                                        "`flood`",
                                        "stored with its history",
                                        "`poison.deliveries`",
                                        "RabbitMQ: a stream",
                                        "`correlation_id`",
                                        "Default alert rules",
                                        "`limit` of a replay",
                                        "`mode: take`",
                                        "RabbitMQ: the origin",
                                        "`text/json`"};
    assert_int_equal(sizeof words / sizeof *words, ROWS);
    struct bytes all = buf_view(&text);
    size_t from = bytes_find(all, BYTES("### Behaviour")), to = bytes_find(all, BYTES("### Added"));
    assert_true(from < to);
    struct bytes behaviour = bytes_cut(all, from, to);
    for (size_t i = 0; i < ROWS; i++)
        if (bytes_find(behaviour, bytes_of(words[i])) == behaviour.len)
            fail_msg("CHANGELOG.md, Behaviour, does not name %s", words[i]);
    buf_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_change_is_named_where_it_concerns_something),
        cmocka_unit_test(a_configuration_that_uses_everything_is_told_of_every_row_once),
        cmocka_unit_test(queues_are_counted_behind_the_first),
        cmocka_unit_test(every_setting_is_in_the_changelog),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
