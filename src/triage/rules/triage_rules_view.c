/* triage_rules_view: the triage rules for the API, metrics and alerts. */
#include <stdio.h>

#include "triage/rules/triage_rules_state.h"

enum { WORDS_MAX = 600 };

static void put_entry(struct json_out *json, const struct triage_entry *entry) {
    json_open(json, '{');
    json_key(json, "rule");
    json_put_str(json, entry->label);
    triage_rule_put(json, entry->rule);
    rule_schedule_put(json, &entry->course);
    json_close(json, '}');
}

static void put_entries(struct json_out *json, struct triage_rules *rules, struct bytes dlq) {
    pthread_mutex_lock(&rules->mutex);
    LIST_EACH(node, &rules->entries) {
        const struct triage_entry *entry = CONTAINER_OF(node, struct triage_entry, link);
        if (entry->rule && bytes_eq(entry->dlq, dlq))
            put_entry(json, entry);
    }
    pthread_mutex_unlock(&rules->mutex);
}

void triage_rules_put(struct triage_rules *rules, struct bytes dlq, struct json_out *json) {
    json_open(json, '[');
    if (rules)
        put_entries(json, rules, dlq);
    json_close(json, ']');
}

static void add(struct triage_rules_totals *totals, const struct triage_entry *entry) {
    const struct rule_schedule *course = &entry->course;
    for (int i = 0; i < TRIAGE_ACTION_COUNT; i++)
        totals->letters[i] += course->letters[i];
    totals->fixed += course->fixed;
    totals->failed += course->failed;
    totals->escalated += course->escalated;
    totals->stopped += entry->rule && course->stage == TRIAGE_STOPPED;
}

void triage_rules_totals(struct triage_rules *rules, struct bytes dlq,
                         struct triage_rules_totals *out) {
    *out = (struct triage_rules_totals){.fixed = 0};
    if (!rules)
        return;
    pthread_mutex_lock(&rules->mutex);
    LIST_EACH(node, &rules->entries) {
        const struct triage_entry *entry = CONTAINER_OF(node, struct triage_entry, link);
        if (dlq.len == 0 || bytes_eq(entry->dlq, dlq))
            add(out, entry);
    }
    pthread_mutex_unlock(&rules->mutex);
}

/* ---- news ---- */

static struct bytes printed(struct arena *arena, const char *text) {
    return arena_dup(arena, bytes_of(text));
}

static struct triage_rules_news stopped_news(const struct triage_entry *entry,
                                             struct arena *arena) {
    return (struct triage_rules_news){.subject = printed(arena, entry->name),
                                      .words = printed(arena, entry->course.why)};
}

static struct triage_rules_news ticket_news(const struct triage_entry *entry, struct arena *arena) {
    char subject[STORE_NAME_MAX + UUID_TEXT_SIZE + 1], words[WORDS_MAX];
    snprintf(subject, sizeof subject, "%s/%s", entry->name, entry->course.ticket);
    snprintf(words, sizeof words, "%llu letters escalated by triage rule %s",
             (unsigned long long)entry->course.ticket_letters, entry->label);
    return (struct triage_rules_news){.ticket = true,
                                      .subject = printed(arena, subject),
                                      .words = printed(arena, words),
                                      .to = entry->rule->tell,
                                      .to_count = entry->rule->tell_count};
}

size_t triage_rules_news(struct triage_rules *rules, struct arena *arena,
                         struct triage_rules_news **out) {
    size_t count = 0;
    pthread_mutex_lock(&rules->mutex);
    *out = arena_alloc(arena, (rules->by_name.count + 1) * sizeof **out);
    LIST_EACH(node, &rules->entries) {
        const struct triage_entry *entry = CONTAINER_OF(node, struct triage_entry, link);
        if (!entry->rule)
            continue;
        if (entry->course.stage == TRIAGE_STOPPED)
            (*out)[count++] = stopped_news(entry, arena);
        else if (entry->course.ticket[0])
            (*out)[count++] = ticket_news(entry, arena);
    }
    pthread_mutex_unlock(&rules->mutex);
    return count;
}
