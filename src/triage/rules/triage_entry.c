/* triage_entry: one rule of a DLQ in memory and in the store (SPACE_TRIAGE). See
 * triage_rules_state.h for who may change what. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "triage/rules/triage_rules_state.h"

enum { TEXT_MAX = 1 << 20, READ_ARENA_CHUNK = 4096 };

/* ---- in memory ---- */

static void label(struct triage_entry *entry) {
    size_t slash = entry->dlq.len;
    snprintf(entry->label, sizeof entry->label, "%.*s[%s]", BYTES_ARG(entry->dlq),
             entry->name + slash + 1);
}

static struct triage_entry *entry_named(struct triage_rules *rules, struct bytes name) {
    struct map_node *node = map_first(&rules->by_name, bytes_hash(name));
    for (; node; node = map_next(node)) {
        struct triage_entry *entry = CONTAINER_OF(node, struct triage_entry, node);
        if (bytes_is(name, entry->name))
            return entry;
    }
    size_t slash = name.len;
    while (slash > 0 && name.ptr[slash - 1] != '/')
        slash--;
    struct triage_entry *entry = memory_new(sizeof *entry);
    entry->rules = rules;
    entry->name = bytes_dup(name);
    entry->dlq = (struct bytes){entry->name, slash > 0 ? slash - 1 : 0};
    entry->due = MONO_NEVER;
    label(entry);
    map_insert(&rules->by_name, &entry->node, bytes_hash(name));
    list_push_back(&rules->entries, &entry->link);
    return entry;
}

struct triage_entry *triage_entry_of(struct triage_rules *rules, struct bytes dlq, size_t place) {
    char name[STORE_NAME_MAX];
    snprintf(name, sizeof name, "%.*s/%zu", BYTES_ARG(dlq), place);
    return entry_named(rules, bytes_of(name));
}

void triage_entry_free(struct triage_entry *entry) {
    list_remove(&entry->link);
    free(entry->name);
    free(entry->wanted);
    free(entry->known);
    free(entry->under_way);
    free(entry);
}

static char *text_of(const struct triage_rule *rule) {
    struct buf text;
    buf_init_heap(&text, TEXT_MAX);
    struct json_out json = json_out(&text);
    json_open(&json, '{');
    triage_rule_put(&json, rule);
    json_close(&json, '}');
    char *copy = bytes_dup(buf_view(&text));
    buf_free(&text);
    return copy;
}

void triage_entry_set(struct triage_entry *entry, const struct triage_dlq *place,
                      const struct triage_rule *rule) {
    assert(!rule || place);
    free(entry->wanted);
    entry->wanted = rule ? text_of(rule) : NULL;
    entry->rule = rule;
    entry->place = rule ? *place : (struct triage_dlq){.rule_count = 0};
}

bool triage_entry_claim(struct triage_entry *entry) {
    pthread_mutex_lock(&entry->rules->mutex);
    bool mine = !entry->busy;
    entry->busy = true;
    pthread_mutex_unlock(&entry->rules->mutex);
    return mine;
}

void triage_entry_release(struct triage_entry *entry) {
    pthread_mutex_lock(&entry->rules->mutex);
    assert(entry->busy);
    entry->busy = false;
    pthread_mutex_unlock(&entry->rules->mutex);
}

/* The wait runs on the monotonic clock; if the wall clock was set back, it is at most as long as a
 * wait can be. */
static struct mono due_of(const struct triage_entry *entry, struct instant now) {
    if (!entry->rule || entry->course.stage == TRIAGE_STOPPED)
        return MONO_NEVER;
    if (entry->course.stage == TRIAGE_RUNNING)
        return mono_after(now.mono, TRIAGE_LOOK_MS);
    int64_t longest = rule_schedule_wait_ms(entry->rule, entry->course.useless);
    int64_t wait = entry->course.next_run_at.ms - now.wall.ms;
    return mono_after(now.mono, wait < 0 ? 0 : wait > longest ? longest : wait);
}

void triage_entry_schedule(struct triage_entry *entry, struct instant now) {
    entry->due = due_of(entry, now);
    if (strcmp(entry->told, entry->course.ticket) == 0)
        return;
    memcpy(entry->told, entry->course.ticket, sizeof entry->told);
    entry->ticket_until = mono_after(now.mono, TRIAGE_TICKET_MS);
}

void triage_entry_install(struct triage_entry *entry, const struct rule_schedule *next,
                          struct bytes under_way, struct instant now) {
    char *known = entry->wanted ? bytes_dup(bytes_of(entry->wanted)) : NULL;
    char *ids = under_way.ptr ? bytes_dup(under_way) : NULL;
    pthread_mutex_lock(&entry->rules->mutex);
    free(entry->known);
    free(entry->under_way);
    entry->known = known;
    entry->under_way = ids;
    entry->course = *next;
    triage_entry_schedule(entry, now);
    pthread_mutex_unlock(&entry->rules->mutex);
    const struct triage_rules_options *options = &entry->rules->options;
    if (options->news && (next->stage == TRIAGE_STOPPED || next->ticket[0]))
        options->news(options->arg);
}

struct bytes triage_entry_who(const struct triage_entry *entry, struct arena *arena) {
    char who[TRIAGE_LABEL_MAX + sizeof "triage:"];
    snprintf(who, sizeof who, "triage:%s", entry->label);
    return arena_dup(arena, bytes_of(who));
}

/* ---- in the store ---- */

struct store_keep triage_entry_keep(const struct triage_entry *entry,
                                    const struct rule_schedule *next, struct bytes under_way,
                                    struct arena *arena) {
    assert(entry->wanted);
    struct buf text;
    buf_init_heap(&text, TEXT_MAX);
    struct json_out json = json_out(&text);
    json_open(&json, '{');
    json_key(&json, "rule");
    json_put_raw(&json, bytes_of(entry->wanted));
    rule_schedule_put(&json, next);
    if (under_way.ptr) {
        json_key(&json, "under_way");
        json_put_raw(&json, under_way);
    }
    json_close(&json, '}');
    struct store_keep keep = {.space = SPACE_TRIAGE,
                              .name = bytes_of(entry->name),
                              .value = arena_dup(arena, buf_view(&text)),
                              .expires = WALL_NEVER};
    buf_free(&text);
    return keep;
}

enum status triage_entry_load(struct triage_rules *rules, const struct letters_note *kept,
                              struct err *err) {
    struct json object, value;
    struct rule_schedule course;
    if (json_parse(kept->value, &object, err) != STATUS_OK)
        return STATUS_CORRUPT;
    enum status status = rule_schedule_read(object, &course, err);
    if (status != STATUS_OK)
        return status;
    struct triage_entry *entry = entry_named(rules, kept->name);
    entry->course = course;
    if (json_get(object, "rule", &value))
        entry->known = bytes_dup(value.text);
    if (json_get(object, "under_way", &value) && value.type == JSON_ARRAY)
        entry->under_way = bytes_dup(value.text);
    return STATUS_OK;
}
