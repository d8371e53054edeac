/* convention: finds the row that a dead letter matches, and fills in an envelope from the facts of
 * that row. */
#include "triage/adopt/formats/convention.h"

#include <assert.h>
#include <string.h>

#include "base/text/content.h"
#include "base/json/json_path.h"
#include "core/lifecycle.h"
#include "core/pointer.h"
#include "triage/adopt/formats/convention_facts.h"
#include "triage/adopt/formats/convention_history.h"
#include "triage/adopt/formats/convention_origin.h"
#include "triage/adopt/formats/convention_reason.h"

enum {
    ID_MAX = 255,   /* bytes, SEMANTICS 1.1 */
    NAME_MAX = 255, /* bytes of a queue's name */
    CONTEXT_MAX = 4 << 20,
};

/* ---- matching ---- */

/* In order of precedence: an application's own record says more than its broker's. */
static const struct convention_family *const families[] = {
    &format_kafka,   &format_dotnet,   &format_generic, &format_cloud,
    &format_sidekiq, &format_protobuf, &format_nats,    &format_rabbitmq,
};

static const struct convention plain = {.name = "plain"};

static void inspect(const struct message *held, struct convention_letter *letter) {
    struct json kind;
    *letter = (struct convention_letter){.held = held};
    if (json_parse(held->body, &letter->body, NULL) != STATUS_OK)
        letter->body = (struct json){.type = JSON_NULL};
    if (json_parse(held->envelope.source, &letter->source, NULL) != STATUS_OK)
        letter->source = (struct json){.type = JSON_NULL};
    if (json_get(letter->source, "kind", &kind) && kind.type == JSON_STRING)
        letter->kind = bytes_cut(kind.text, 1, kind.text.len - 1);
}

static bool has_prefix(const struct convention *row, const struct envelope *envelope) {
    for (size_t i = 0; i < CONVENTION_PREFIXES_MAX && row->prefixes[i]; i++) {
        struct bytes prefix = bytes_of(row->prefixes[i]);
        for (size_t j = 0; j < envelope->header_count; j++)
            if (bytes_eq_nocase(bytes_cut(envelope->headers[j].name, 0, prefix.len), prefix))
                return true;
    }
    return !row->prefixes[0];
}

static bool matches(const struct convention *row, const struct convention_letter *letter) {
    if (row->kind && !bytes_is(letter->kind, row->kind))
        return false;
    if (!has_prefix(row, &letter->held->envelope))
        return false;
    for (size_t i = 0; i < CONVENTION_MEMBERS_MAX && row->members[i]; i++)
        if (!convention_facts_has(letter, row->where, row->members[i]))
            return false;
    return !row->fits || row->fits(letter);
}

const struct convention *convention_find(const struct message *held) {
    struct convention_letter letter;
    inspect(held, &letter);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        for (size_t j = 0; j < families[i]->count; j++)
            if (matches(&families[i]->rows[j], &letter))
                return &families[i]->rows[j];
    return &plain;
}

bool convention_is_mirror(const struct message *held) {
    struct convention_letter letter;
    bool mirror = false;
    inspect(held, &letter);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        for (size_t j = 0; j < families[i]->count; j++) {
            if (!matches(&families[i]->rows[j], &letter))
                continue;
            if (!families[i]->rows[j].mirror)
                return false;
            mirror = true;
        }
    return mirror;
}

const char *convention_name(const struct convention *convention) {
    assert(convention);
    return convention->name;
}

static const struct convention *named(struct bytes name) {
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        for (size_t j = 0; j < families[i]->count; j++)
            if (bytes_is(name, families[i]->rows[j].name))
                return &families[i]->rows[j];
    return NULL;
}

const struct convention *convention_of(struct bytes context) {
    struct json whole, name;
    if (context.len == 0 || json_parse(context, &whole, NULL) != STATUS_OK ||
        !json_path_get(whole, BYTES(".adopted.convention"), &name) || name.type != JSON_STRING)
        return NULL;
    return named(bytes_cut(name.text, 1, name.text.len - 1));
}

bool convention_adds(const struct convention *convention, struct bytes header) {
    assert(convention);
    if (convention->where != IN_HEADERS)
        return false;
    for (size_t i = 0; i < CONVENTION_MEMBERS_MAX && convention->members[i]; i++)
        if (bytes_eq_nocase(header, bytes_of(convention->members[i])))
            return true;
    for (size_t i = 0; i < convention->field_count; i++)
        if (bytes_eq_nocase(header, bytes_of(convention->fields[i].at)))
            return !convention->fields[i].own;
    return false;
}

/* ---- the envelope ---- */

static uint32_t clamped(int64_t number) {
    return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

/* The count `of`; otherwise `but_one`, which leaves out the first attempt, plus one. */
static uint32_t count_of(const struct convention_facts *facts, enum convention_fact of,
                         enum convention_fact but_one) {
    if (facts->facts[of].known)
        return clamped(facts->facts[of].number);
    if (facts->facts[but_one].known && facts->facts[but_one].number < UINT32_MAX)
        return clamped(facts->facts[but_one].number + 1);
    return 0;
}

static struct wall time_of(const struct convention_facts *facts, enum convention_fact fact,
                           struct wall otherwise) {
    return facts->facts[fact].known ? (struct wall){facts->facts[fact].number} : otherwise;
}

static struct wall earlier(struct wall a, struct wall b) {
    if (a.ms <= WALL_NEVER.ms || b.ms <= WALL_NEVER.ms)
        return a.ms > b.ms ? a : b;
    return a.ms < b.ms ? a : b;
}

/* The message is at least as old as the earliest time known of it: freshness counts from
 * created_at, and a letter that is adopted today may have failed years ago. Where the convention
 * knows when the message was created, the broker's time is that of the letter. */
static void set_times(const struct convention_facts *facts, struct wall now,
                      struct envelope *envelope) {
    struct wall written = envelope->created_at.ms > WALL_NEVER.ms ? envelope->created_at : now;
    struct wall last = time_of(facts, FACT_LAST_FAILURE_AT, WALL_NEVER);
    if (last.ms == WALL_NEVER.ms)
        last = time_of(facts, FACT_DEAD_AT,
                       time_of(facts, FACT_FIRST_FAILURE_AT, written.ms < now.ms ? written : now));
    envelope->first_failure_at = time_of(facts, FACT_FIRST_FAILURE_AT, last);
    envelope->last_failure_at = last;
    envelope->dead_at = time_of(facts, FACT_DEAD_AT, last);
    envelope->created_at = earlier(time_of(facts, FACT_CREATED_AT, written), now);
    envelope->created_at = earlier(envelope->created_at, envelope->first_failure_at);
    envelope->created_at = earlier(envelope->created_at, envelope->last_failure_at);
    envelope->created_at = earlier(envelope->created_at, envelope->dead_at);
}

static void set_failure(const struct convention_facts *facts, struct envelope *envelope) {
    struct outcome outcome = {.ending = ENDING_FAILED,
                              .kind = KIND_REPORTED,
                              .error_type = convention_facts_get(facts, FACT_TYPE),
                              .error_message = convention_facts_get(facts, FACT_MESSAGE),
                              .stack_trace = convention_facts_get(facts, FACT_TRACE),
                              .retry_after_ms = -1};
    envelope_fail(envelope, &outcome, envelope->last_failure_at);
}

static bool is_name(struct bytes text, size_t max) {
    return text.len > 0 && text.len <= max && bytes_is_printable(text);
}

static void set_names(const struct convention_facts *facts, struct bytes entry,
                      struct envelope *envelope) {
    struct bytes id = convention_facts_get(facts, FACT_ID);
    struct bytes queue = convention_facts_get(facts, FACT_QUEUE);
    if (!is_name(queue, NAME_MAX))
        queue = convention_facts_get(facts, FACT_PLACE);
    envelope->queue = arena_dup(facts->arena, is_name(queue, NAME_MAX) ? queue : entry);
    if (is_name(id, ID_MAX))
        envelope->id = id;
    envelope->task_id = convention_facts_get(facts, FACT_TASK_ID);
    envelope->task_type = convention_facts_get(facts, FACT_TASK_TYPE);
    envelope->instance = convention_facts_get(facts, FACT_INSTANCE);
    envelope->version = convention_facts_get(facts, FACT_VERSION);
}

/* ---- the message ---- */

/* Appends the original's headers to those of the letter. */
static void add_headers(const struct convention_facts *facts, struct envelope *envelope) {
    struct json object;
    if (json_parse(convention_facts_get(facts, FACT_HEADERS), &object, NULL) != STATUS_OK ||
        object.type != JSON_OBJECT)
        return;
    struct rule_header *headers = arena_alloc(facts->arena, ENVELOPE_HEADERS_MAX * sizeof *headers);
    size_t count = envelope->header_count;
    if (count >= ENVELOPE_HEADERS_MAX)
        return;
    if (count > 0)
        memcpy(headers, envelope->headers, count * sizeof *headers);
    for (struct json_walk walk = json_walk(object);
         count < ENVELOPE_HEADERS_MAX && json_step(&walk);) {
        struct rule_header *header = &headers[count];
        if (!json_unescape(walk.key, facts->arena, &header->name))
            continue;
        if (!json_string(walk.value, facts->arena, &header->value))
            header->value = walk.value.text;
        count++;
    }
    envelope->headers = headers;
    envelope->header_count = count;
}

static struct bytes content_type_of(const struct message *held) {
    static const char *const names[] = {"content-type", "content_type"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct bytes said = convention_facts_header(held, names[i], true);
        if (said.len > 0 && bytes_is_utf8(said))
            return said;
    }
    return content_looks(held->body);
}

static void set_message(const struct convention_facts *facts, struct message *held) {
    struct envelope *envelope = &held->envelope;
    if (facts->facts[FACT_KEY].known)
        envelope->key = convention_facts_get(facts, FACT_KEY);
    add_headers(facts, envelope);
    if (facts->facts[FACT_BODY].known) {
        held->body = convention_facts_get(facts, FACT_BODY);
        envelope->content_type = content_type_of(held);
    }
    envelope->size = held->body.len;
}

/* A pointer whose message is gone, or may have been replaced, is a letter all the same. */
static void set_why(const struct convention_facts *facts, struct envelope *envelope) {
    struct bytes source = facts->letter->source.text;
    if (pointer_is_gone(source) || pointer_is_doubtful(source))
        envelope->why = pointer_why(source, facts->arena);
    else if (facts->awaits_retry)
        envelope->why = BYTES("its system had set it for a retry");
}

static struct bytes context_of(const struct convention *row, struct bytes entry,
                               const struct convention_facts *facts) {
    struct buf text;
    buf_init_heap(&text, CONTEXT_MAX);
    struct json_out out = json_out(&text);
    json_open(&out, '{');
    json_key(&out, "adopted");
    json_open(&out, '{');
    json_key(&out, "convention");
    json_put_str(&out, row->name);
    json_key(&out, "from");
    json_put(&out, entry);
    json_key(&out, "at");
    convention_origin_at(facts, &out);
    json_close(&out, '}');
    for (size_t i = 0; i < facts->beside_count; i++) {
        json_key(&out, facts->beside[i].name);
        json_put(&out, facts->beside[i].text);
    }
    json_close(&out, '}');
    struct bytes context = text.overflow ? BYTES_NONE : arena_dup(facts->arena, buf_view(&text));
    buf_free(&text);
    return context;
}

void convention_read(const struct convention *convention, const struct broker_kind *const *brokers,
                     struct bytes entry, struct wall now, struct message *held) {
    assert(held->seq == 0);
    struct convention_letter letter;
    struct convention_facts facts = {
        .letter = &letter, .arena = &held->arena, .state = STATE_PENDING_REVIEW};
    struct envelope *envelope = &held->envelope;
    inspect(held, &letter);
    letter.broker = broker_kind_find(brokers, letter.kind);
    convention_facts_read(&facts, convention);
    if (convention->read)
        convention->read(&facts);
    convention_reason_failure(&facts);
    lifecycle_adopt(envelope, facts.state);
    envelope->cause = CAUSE_ADOPTED;
    convention_reason_find(&facts, &envelope->reason, &envelope->category);
    envelope->attempts = count_of(&facts, FACT_ATTEMPTS, FACT_RETRIES);
    envelope->max_attempts = count_of(&facts, FACT_ATTEMPTS_MAX, FACT_RETRIES_MAX);
    set_times(&facts, now, envelope);
    envelope->next_attempt_at = time_of(&facts, FACT_RETRY_AT, WALL_NEVER);
    if (facts.state != STATE_PENDING_REVIEW)
        envelope->resolved_at = time_of(&facts, FACT_RESOLVED_AT, envelope->last_failure_at);
    if (facts.state == STATE_RESOLVED)
        envelope->resolution = RESOLUTION_BY_HAND;
    set_failure(&facts, envelope);
    if (convention->history)
        convention_history_read(&letter, envelope, &held->arena);
    set_names(&facts, entry, envelope);
    envelope->context = context_of(convention, entry, &facts);
    envelope->source = convention_origin_source(&facts);
    set_message(&facts, held);
    set_why(&facts, envelope);
}
