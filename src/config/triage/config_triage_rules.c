#include "config/triage/config_triage_rules.h"

#include "config/table/config_printer.h"
#include "config/table/config_value.h"
#include "broker/sources.h"
#include "core/comeback.h"
#include "core/fingerprint.h"

enum { SECOND_MS = 1000, COUNT_MOST = 1000000 };
#define LONGEST_MS (3650LL * 24 * 3600 * SECOND_MS)

/* ---- when ---- */

static bool read_cause(struct config_reader *reader, const struct config_node *node,
                       const struct config_field *field, void *out) {
    static const char *const words[] = {
#define WORD(code, text) text,
        CAUSE_LIST(WORD)
#undef WORD
            NULL};
    const struct config_field among = {.words = words};
    struct triage_when *when = out;
    unsigned cause;
    (void)field;
    if (!config_value_word(reader, node, &among, &cause))
        return false;
    when->cause = (enum cause)cause;
    when->has_cause = true;
    return true;
}

static bool read_fingerprint(struct config_reader *reader, const struct config_node *node,
                             const struct config_field *field, void *out) {
    static const char form[] = "a fingerprint (16 hex digits)";
    struct triage_when *when = out;
    struct bytes text;
    (void)field;
    if (!config_value_string(reader, node, form, &text))
        return false;
    when->has_fingerprint = fingerprint_parse(text, &when->fingerprint);
    return when->has_fingerprint || config_reader_expected(reader, node, form);
}

/* "2": at most two. "3+": at least three. "1-2". */
static bool parse_replays(struct bytes text, struct triage_when *when) {
    uint64_t least = 0, most = TRIAGE_REPLAYS_MOST;
    size_t dash = bytes_find(text, BYTES("-"));
    bool good;
    if (bytes_ends(text, BYTES("+")))
        good = bytes_u64(bytes_cut(text, 0, text.len - 1), &least);
    else if (dash < text.len)
        good = bytes_u64(bytes_cut(text, 0, dash), &least) &&
               bytes_u64(bytes_cut(text, dash + 1, text.len), &most) && most <= COUNT_MOST;
    else
        good = bytes_u64(text, &most) && most <= COUNT_MOST;
    if (!good || least > most || least > COUNT_MOST)
        return false;
    when->replays_least = (uint32_t)least;
    when->replays_most = (uint32_t)most;
    return true;
}

static bool read_replays(struct config_reader *reader, const struct config_node *node,
                         const struct config_field *field, void *out) {
    static const char form[] = "at most so many replays such as 2, at least so many such as 3+, or "
                               "a range such as 1-2";
    struct bytes text;
    (void)field;
    return config_value_string(reader, node, form, &text) &&
           (parse_replays(text, out) || config_reader_expected(reader, node, form));
}

static void put_cause(struct config_printer *p, const struct config_field *field,
                      const void *value) {
    (void)field;
    config_printer_text(p, bytes_of(cause_text(((const struct triage_when *)value)->cause)));
}

CONFIG_SHOWN(has_cause, struct triage_when, of->has_cause)

static void put_fingerprint(struct config_printer *p, const struct config_field *field,
                            const void *value) {
    char text[FINGERPRINT_TEXT_SIZE];
    (void)field;
    buf_printf(p->out, "\"%s\"",
               fingerprint_text(((const struct triage_when *)value)->fingerprint, text));
}

CONFIG_SHOWN(has_fingerprint, struct triage_when, of->has_fingerprint)

static void put_replays(struct config_printer *p, const struct config_field *field,
                        const void *value) {
    const struct triage_when *when = value;
    (void)field;
    if (when->replays_most == TRIAGE_REPLAYS_MOST)
        buf_printf(p->out, "%u+", when->replays_least);
    else if (when->replays_least > 0)
        buf_printf(p->out, "%u-%u", when->replays_least, when->replays_most);
    else
        buf_printf(p->out, "%u", when->replays_most);
}

CONFIG_SHOWN(has_replays, struct triage_when,
             of->replays_least > 0 || of->replays_most != TRIAGE_REPLAYS_MOST)

#define WHEN(key, read, member) CONFIG_TEXT(key, read, struct triage_when, member)
static const struct config_field when_fields[] = {
    WHEN("category", config_value_text, category),
    WHEN("reason", config_value_text, reason),
    CONFIG_WHOLE("cause", read_cause, .put = put_cause, .shown = has_cause),
    WHEN("error_type", config_value_text, error_type),
    CONFIG_WHOLE("fingerprint", read_fingerprint, .put = put_fingerprint, .shown = has_fingerprint),
    WHEN("key", config_value_text, key),
    WHEN("task_type", config_value_text, task_type),
    CONFIG_NUMBER("age", duration, struct triage_when, age_ms, 1, LONGEST_MS, .optional = true),
    CONFIG_WHOLE("replays", read_replays, .put = put_replays, .shown = has_replays),
    CONFIG_NUMBER("attempts", count, struct triage_when, attempts, 1, COUNT_MOST, .optional = true),
    WHEN("where", config_value_jq, where),
};
const struct config_table config_triage_when_table = CONFIG_FLOW(when_fields);

static bool read_when(struct config_reader *reader, const struct config_node *node,
                      const struct config_field *field, void *out) {
    (void)field;
    return config_reader_mapping(reader, node, &config_triage_when_table, out);
}

/* ---- a rule ---- */

static bool read_rate(struct config_reader *reader, const struct config_node *node,
                      const struct config_field *field, void *out) {
    static const char form[] = "a rate such as 50/s, 15% or max";
    struct bytes text;
    (void)field;
    return config_value_string(reader, node, form, &text) &&
           (replay_rate_parse(text, out) || config_reader_expected(reader, node, form));
}

/* "5", or a list such as [1, 10]. `out` is the whole rule. */
static bool read_canary(struct config_reader *reader, const struct config_node *node,
                        const struct config_field *field, void *out) {
    static const char form[] = "a number of letters, or stages such as [1, 10]";
    struct triage_rule *rule = out;
    bool list = node->kind == CONFIG_LIST;
    (void)field;
    if (list && (node->count == 0 || node->count > REPLAY_STAGES_MAX))
        return config_reader_expected(reader, node, form);
    for (const struct config_node *item = list ? node->first : node; item;
         item = list ? item->next : NULL) {
        struct bytes text;
        uint64_t number;
        if (!config_value_string(reader, item, form, &text))
            return false;
        if (!bytes_u64(text, &number) || number < 1 || number > TRIAGE_LIMIT_MAX)
            return config_reader_expected(reader, item, form);
        rule->canary[rule->canary_count++] = (uint32_t)number;
    }
    return true;
}

/* A queue or receivers, depending on the action. `out` is the whole rule. */
static bool read_to(struct config_reader *reader, const struct config_node *node,
                    const struct config_field *field, void *out) {
    static const char form[] =
        "a queue or origin (replay), or receivers of alerts such as [pager] (escalate)";
    struct triage_rule *rule = out;
    bool list = node->kind == CONFIG_LIST;
    (void)field;
    if (list && (node->count == 0 || node->count > TRIAGE_TELL_MAX))
        return config_reader_expected(reader, node, form);
    rule->tell = arena_alloc(reader->arena, (node->count + 1) * sizeof *rule->tell);
    const struct config_node *item = list ? node->first : node;
    for (; item; item = list ? item->next : NULL)
        if (config_value_string(reader, item, form, &rule->tell[rule->tell_count]))
            rule->tell_count++;
    return true;
}

static void put_rate(struct config_printer *p, const struct config_field *field,
                     const void *value) {
    (void)field;
    replay_rate_put(value, p->out);
}

static void put_canary(struct config_printer *p, const struct config_field *field,
                       const void *value) {
    const struct triage_rule *rule = value;
    (void)field;
    for (size_t i = 0; i < rule->canary_count; i++)
        buf_printf(p->out, "%s%u", i ? ", " : "[", rule->canary[i]);
    buf_char(p->out, ']');
}

static void put_to(struct config_printer *p, const struct config_field *field, const void *value) {
    const struct triage_rule *rule = value;
    (void)field;
    if (rule->action == TRIAGE_REPLAY)
        config_printer_text(p, rule->to);
    else
        config_printer_texts(p, rule->tell, rule->tell_count);
}

/* The keys of an action. */
CONFIG_SHOWN(replays, struct triage_rule, of->action == TRIAGE_REPLAY)
CONFIG_SHOWN(has_canary, struct triage_rule, of->action == TRIAGE_REPLAY && of->canary_count > 0)
CONFIG_SHOWN(has_edit, struct triage_rule, of->action == TRIAGE_REPLAY && of->edit.len > 0)
CONFIG_SHOWN(has_to, struct triage_rule,
             of->action == TRIAGE_REPLAY ? of->to.len > 0 : of->tell_count > 0)
CONFIG_SHOWN(may_fail, struct triage_rule, triage_rule_may_fail(of))

#define SPAN(key, member, least, ...)                                                              \
    CONFIG_NUMBER(key, duration, struct triage_rule, member, least, LONGEST_MS, __VA_ARGS__)
static const struct config_field rule_fields[] = {
    CONFIG_MAPPED("when", read_when, config_triage_when_table, struct triage_rule, when),
    CONFIG_WORD("do", struct triage_rule, action, triage_rule_actions),
    SPAN("every", every_ms, SECOND_MS),
    CONFIG_NUMBER("limit", count, struct triage_rule, limit, 1, TRIAGE_LIMIT_MAX),
    SPAN("lifetime", lifetime_ms, 1, .shown = replays),
    CONFIG_TEXT("edit", config_value_jq, struct triage_rule, edit, .shown = has_edit,
                .behind = "canary"),
    CONFIG_OTHER("rate", read_rate, put_rate, struct triage_rule, rate, .shown = replays),
    CONFIG_WHOLE("canary", read_canary, .put = put_canary, .shown = has_canary),
    CONFIG_WHOLE("to", read_to, .put = put_to, .shown = has_to),
    SPAN("backoff", backoff_ms, SECOND_MS, .shown = may_fail),
    CONFIG_NUMBER("stop_after", count, struct triage_rule, stop_after, 1, TRIAGE_STOP_AFTER_MAX,
                  .shown = may_fail),
};
const struct config_table config_triage_rule_table = CONFIG_FLOW(rule_fields);

void config_triage_rules_put(struct config_printer *p, const struct config_field *field,
                             const void *value) {
    const struct config_triage_rules *rules = value;
    (void)field;
    for (size_t i = 0; i < rules->count; i++) {
        buf_str(p->out, i ? ",\n    " : "[\n    ");
        config_printer_mapping(p, &config_triage_rule_table, &rules->list[i]);
    }
    buf_char(p->out, ']');
}

/* Keys that are valid with some actions only. */
#define WITH(action) (1u << TRIAGE_##action)
static const struct {
    const char *key;
    unsigned actions;
    const char *with;
} bound[] = {
    {"lifetime", WITH(REPLAY), "replay"},
    {"edit", WITH(REPLAY), "replay"},
    {"rate", WITH(REPLAY), "replay"},
    {"canary", WITH(REPLAY), "replay"},
    {"to", WITH(REPLAY) | WITH(ESCALATE), "replay and escalate"},
    {"backoff", WITH(REPLAY) | WITH(COMPENSATE), "replay and compensate"},
    {"stop_after", WITH(REPLAY) | WITH(COMPENSATE), "replay and compensate"},
};

static bool check_keys(struct config_reader *reader, const struct config_node *node,
                       const struct triage_rule *rule) {
    for (size_t i = 0; i < sizeof bound / sizeof *bound; i++) {
        const struct config_node *key = config_tree_find(node, bound[i].key);
        if (!key || bound[i].actions & 1u << rule->action)
            continue;
        config_mistake_add(&reader->mistakes, key->key_at, "%s: only with %s", bound[i].key,
                           bound[i].with);
        return false;
    }
    return true;
}

/* An action that cannot be undone must have conditions. */
static bool check_when(struct config_reader *reader, const struct config_node *node,
                       const struct triage_rule *rule) {
    bool careful = rule->action != TRIAGE_REPLAY && rule->action != TRIAGE_ESCALATE;
    if (!careful || !triage_rule_is_open(&rule->when))
        return true;
    config_mistake_add(
        &reader->mistakes, node->at,
        "%.*s would %s every letter. Say which, such as when: {category: validation}",
        BYTES_ARG(node->key), triage_rule_actions[rule->action]);
    return false;
}

static bool finish_rule(struct config_reader *reader, const struct config_node *node,
                        struct triage_rule *rule) {
    if (!config_tree_find(node, "do")) {
        config_mistake_add(&reader->mistakes, node->at, "%.*s has no do", BYTES_ARG(node->key));
        return false;
    }
    if (!check_keys(reader, node, rule) || !check_when(reader, node, rule))
        return false;
    if (rule->action == TRIAGE_REPLAY && rule->tell_count > 1)
        return config_reader_expected(reader, config_tree_find(node, "to"), "one queue");
    if (rule->action == TRIAGE_REPLAY && rule->tell_count == 1) {
        rule->to = rule->tell[0];
        rule->tell_count = 0;
    }
    return true;
}

bool config_triage_rules_read(struct config_reader *reader, const struct config_node *node,
                              const struct config_field *field, void *out) {
    struct config_triage_rules *rules = out;
    (void)field;
    if (node->kind != CONFIG_LIST || node->count > TRIAGE_RULES_MAX)
        return config_reader_expected(
            reader, node,
            "a list of at most 32 rules such as {when: {category: transient}, do: replay}");
    struct triage_rule *list = arena_alloc(reader->arena, node->count * sizeof *list);
    for (const struct config_node *item = node->first; item; item = item->next) {
        struct triage_rule *rule = &list[rules->count];
        triage_rule_init(rule);
        if (config_reader_mapping(reader, item, &config_triage_rule_table, rule) &&
            finish_rule(reader, item, rule))
            rules->count++;
    }
    rules->list = list;
    return true;
}

/* ---- the rest of the file ---- */

static bool has_receiver(const struct config_alerts *alerts, struct bytes name) {
    for (size_t i = 0; i < alerts->receiver_count; i++)
        if (bytes_eq(alerts->receivers[i].name, name))
            return true;
    return false;
}

/* A description of what is missing; BYTES_NONE: nothing. */
static struct bytes lacking(struct config_reader *reader, const struct config_queue *queue,
                            const struct engine_dlq *dlq, const struct triage_rule *rule) {
    if (rule->action == TRIAGE_ARCHIVE && dlq->archive.len == 0)
        return config_reader_text(
            reader, "archive needs an archive for DLQ \"%.*s\", such as archive: \"file:archive/\"",
            BYTES_ARG(dlq->name));
    if (rule->action == TRIAGE_COMPENSATE && !queue->compensate)
        return config_reader_text(reader, "queue \"%.*s\" has no compensate handler",
                                  BYTES_ARG(queue->name));
    bool to_origin = bytes_is(rule->to, COMEBACK_ORIGIN);
    if (to_origin && bytes_is(queue->source, SOURCES_BUILTIN))
        return config_reader_text(reader,
                                  "letters of queue \"%.*s\" have no other origin: its source is "
                                  "builtin",
                                  BYTES_ARG(queue->name));
    if (rule->to.len > 0 && !to_origin && !config_find_queue(reader->config, rule->to))
        return config_reader_text(reader, "there is no queue \"%.*s\"", BYTES_ARG(rule->to));
    for (size_t i = 0; i < rule->tell_count; i++)
        if (!has_receiver(&reader->config->alerts, rule->tell[i]))
            return config_reader_text(reader, "there is no receiver \"%.*s\" in alerts",
                                      BYTES_ARG(rule->tell[i]));
    return BYTES_NONE;
}

bool config_triage_rules_check(struct config_reader *reader, const struct config_queue *queue,
                               size_t dlq, struct config_place at) {
    const struct config_triage_rules *rules = &queue->triage[dlq].rules;
    for (size_t i = 0; i < rules->count; i++) {
        struct bytes what = lacking(reader, queue, &queue->dlqs[dlq], &rules->list[i]);
        if (what.len == 0)
            continue;
        config_mistake_add(&reader->mistakes, at, "triage[%zu]: %.*s", i, BYTES_ARG(what));
        return false;
    }
    return true;
}

/* ---- as a whole ---- */

size_t config_triage_rules_dlqs(const struct config *config, struct arena *arena,
                                struct triage_dlq **out) {
    size_t count = 0;
    *out = arena_alloc(arena, config->dlq_count * sizeof **out);
    for (size_t i = 0; i < config->dlq_count; i++) {
        const struct config_dlq *dlq = &config->dlqs[i];
        if (dlq->triage->rules.count > 0)
            (*out)[count++] = (struct triage_dlq){.name = dlq->dlq->name,
                                                  .archive = dlq->dlq->archive,
                                                  .fresh_ms = dlq->triage->fresh.within_ms,
                                                  .rules = dlq->triage->rules.list,
                                                  .rule_count = dlq->triage->rules.count};
    }
    return count;
}
