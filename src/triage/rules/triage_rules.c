/* triage_rules: the thread of the triage rules: reads the configuration, runs the rules that are
 * due, and checks runs in progress. */
#include "triage/rules/triage_rules.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "triage/query/audit.h"
#include "triage/rules/triage_rules_state.h"

enum { RULES_ARENA_CHUNK = 16 * 1024, LOAD_PAGE = 256, COMMIT_OPS_MAX = 2 };

/* ---- start and stop ---- */

struct triage_rules *triage_rules_new(const struct triage_rules_options *options) {
    struct triage_rules *rules = memory_new(sizeof *rules);
    rules->options = *options;
    rules->reloaded = true;
    mailbox_init(&rules->mailbox);
    pthread_mutex_init(&rules->mutex, NULL);
    list_init(&rules->entries);
    arena_init_heap(&rules->arena, RULES_ARENA_CHUNK);
    return rules;
}

static void free_entry(struct map_node *node) {
    triage_entry_free(CONTAINER_OF(node, struct triage_entry, node));
}

void triage_rules_free(struct triage_rules *rules) {
    if (!rules)
        return;
    map_drain(&rules->by_name, free_entry);
    arena_free(&rules->arena);
    mailbox_free(&rules->mailbox);
    pthread_mutex_destroy(&rules->mutex);
    free(rules);
}

void triage_rules_reload(struct triage_rules *rules) {
    rules->reloaded = true;
    mailbox_ring(&rules->mailbox);
}

void triage_rules_stop(struct triage_rules *rules) {
    rules->ending = true;
    mailbox_ring(&rules->mailbox);
}

void triage_rules_run(struct triage_rules *rules) {
    while (!rules->ending)
        mailbox_wait(&rules->mailbox, triage_rules_step(rules, triage_now(rules->options.triage)));
}

/* ---- the configuration ---- */

static void set_entry(struct triage_rules *rules, const struct triage_dlq *dlq, size_t place,
                      struct instant now) {
    struct triage_entry *entry = triage_entry_of(rules, dlq->name, place);
    if (entry->seen == rules->looks)
        return; /* queues may share a DLQ */
    entry->seen = rules->looks;
    triage_entry_set(entry, dlq, &dlq->rules[place]);
    list_remove(&entry->link);
    list_push_back(&rules->entries, &entry->link);
    triage_entry_schedule(entry, now);
}

static void forget_unseen(struct triage_rules *rules) {
    LIST_EACH(node, &rules->entries) {
        struct triage_entry *entry = CONTAINER_OF(node, struct triage_entry, link);
        if (entry->seen == rules->looks || !entry->rule)
            continue;
        triage_entry_set(entry, NULL, NULL);
        entry->due = MONO_NEVER;
    }
}

static bool any_busy(const struct triage_rules *rules) {
    LIST_EACH(node, &rules->entries)
    if (CONTAINER_OF(node, struct triage_entry, link)->busy)
        return true;
    return false;
}

/* Takes over a reloaded configuration. False: a rule is being resumed at the moment. */
static bool read_configuration(struct triage_rules *rules, struct instant now) {
    struct triage_dlq *dlqs;
    pthread_mutex_lock(&rules->mutex);
    bool may = !any_busy(rules);
    if (may && atomic_exchange(&rules->reloaded, false)) {
        arena_free(&rules->arena);
        arena_init_heap(&rules->arena, RULES_ARENA_CHUNK);
        rules->looks++;
        size_t count = rules->options.dlqs(rules->options.arg, &rules->arena, &dlqs);
        for (size_t d = 0; d < count; d++)
            for (size_t r = 0; r < dlqs[d].rule_count; r++)
                set_entry(rules, &dlqs[d], r, now);
        forget_unseen(rules);
    }
    pthread_mutex_unlock(&rules->mutex);
    return may;
}

/* ---- crash recovery ---- */

/* A rule whose stored state is damaged starts afresh. */
static enum status load(struct triage_rules *rules, struct err *err) {
    struct store *store = rules->options.triage->store;
    struct letters_note page[LOAD_PAGE];
    struct arena arena;
    struct bytes after = BYTES_NONE;
    size_t count = LOAD_PAGE;
    enum status status = STATUS_OK;
    arena_init_heap(&arena, RULES_ARENA_CHUNK);
    while (count == LOAD_PAGE && status == STATUS_OK) {
        status = letters_notes(store->letters, SPACE_TRIAGE, BYTES_NONE, after, false, LOAD_PAGE,
                               &arena, page, &count, err);
        for (size_t i = 0; status == STATUS_OK && i < count; i++) {
            struct err trouble;
            if (triage_entry_load(rules, &page[i], &trouble) != STATUS_OK)
                log_error("triage rule %.*s: %s", BYTES_ARG(page[i].name), trouble.text);
        }
        if (status == STATUS_OK && count > 0)
            after = page[count - 1].name;
    }
    arena_free(&arena);
    return status;
}

/* Also reads the configuration, so that triage_rules_news reports the recovered rules from now on.
 */
enum status triage_rules_recover(struct triage_rules *rules, struct err *err) {
    enum status status = load(rules, err);
    if (status == STATUS_OK)
        read_configuration(rules, triage_now(rules->options.triage));
    rules->reloaded = true; /* the first step reads it again: it may have changed by then */
    return status;
}

/* ---- one step ---- */

/* Commits a schedule by itself. */
static void commit_schedule(struct triage_entry *entry, const struct rule_schedule *next,
                            struct instant now) {
    assert(entry->busy && entry->rule);
    struct arena arena;
    struct err err;
    arena_init_heap(&arena, RULES_ARENA_CHUNK);
    struct bytes under_way =
        entry->under_way ? arena_dup(&arena, bytes_of(entry->under_way)) : BYTES_NONE;
    struct store_op op = {.kind = STORE_KEEP,
                          .keep = triage_entry_keep(entry, next, under_way, &arena)};
    if (triage_commit(entry->rules->options.triage, &op, 1, &err) == STATUS_OK) {
        triage_entry_install(entry, next, under_way, now);
    } else {
        log_error("triage rule %s: %s", entry->label, err.text);
        entry->due = mono_after(now.mono, TRIAGE_AGAIN_MS);
    }
    arena_free(&arena);
}

static bool is_known(const struct triage_entry *entry) {
    return entry->known && bytes_is(bytes_of(entry->known), entry->wanted);
}

static void begin(struct triage_entry *entry, struct instant now) {
    struct rule_schedule next = entry->course;
    rule_schedule_begin(&next, entry->rule, now.wall);
    commit_schedule(entry, &next, now);
}

/* The receivers were notified, or the alerts have the notice in their outbox. */
static void close_ticket(struct triage_entry *entry, struct instant now) {
    struct rule_schedule next = entry->course;
    next.ticket[0] = '\0';
    next.ticket_letters = 0;
    commit_schedule(entry, &next, now);
}

/* Receivers that the rule names get one ticket for each run, one at a time; without names, runs
 * within a minute share a ticket. */
static bool may_run(const struct triage_entry *entry) {
    return !entry->course.ticket[0] || entry->rule->tell_count == 0;
}

static void step_entry(struct triage_entry *entry, struct instant now) {
    assert(entry->busy && entry->rule);
    if (!is_known(entry))
        begin(entry, now);
    else if (entry->course.ticket[0] && entry->ticket_until.ms <= now.mono.ms)
        close_ticket(entry, now);
    else if (entry->due.ms > now.mono.ms)
        return;
    else if (entry->course.stage == TRIAGE_RUNNING)
        triage_look(entry, now);
    else if (entry->course.stage == TRIAGE_WAITING && may_run(entry))
        triage_run(entry, now);
    else if (entry->course.stage == TRIAGE_WAITING)
        entry->due = entry->ticket_until;
}

struct mono triage_rules_step(struct triage_rules *rules, struct instant now) {
    struct mono next = MONO_NEVER;
    if (!read_configuration(rules, now))
        next = mono_after(now.mono, TRIAGE_LOOK_MS);
    LIST_EACH(node, &rules->entries) {
        struct triage_entry *entry = CONTAINER_OF(node, struct triage_entry, link);
        if (rules->ending || !entry->rule)
            continue;
        if (!triage_entry_claim(entry)) {
            next = mono_earlier(next, mono_after(now.mono, TRIAGE_LOOK_MS));
            continue;
        }
        step_entry(entry, now);
        next = mono_earlier(next, entry->due);
        if (entry->course.ticket[0])
            next = mono_earlier(next, entry->ticket_until);
        triage_entry_release(entry);
    }
    return next;
}

/* ---- resuming ---- */

static enum status resume(struct triage_entry *entry, struct bytes who, struct bytes why,
                          struct err *err) {
    assert(entry->busy && entry->course.stage == TRIAGE_STOPPED);
    struct triage *triage = entry->rules->options.triage;
    struct instant now = triage_now(triage);
    struct rule_schedule next = entry->course;
    struct arena arena;
    arena_init_heap(&arena, RULES_ARENA_CHUNK);
    rule_schedule_resume(&next, now.wall);
    struct audit_entry audit = {.who = who,
                                .what = "triage.resume",
                                .why = why,
                                .subject = bytes_of(entry->label),
                                .before = BYTES("{\"state\":\"stopped\"}"),
                                .after = BYTES("{\"state\":\"waiting\"}")};
    audit_begin(triage, &audit);
    struct store_op ops[COMMIT_OPS_MAX] = {
        {.kind = STORE_KEEP, .keep = triage_entry_keep(entry, &next, BYTES_NONE, &arena)},
        audit_op(&audit, &arena)};
    enum status status = triage_commit(triage, ops, COMMIT_OPS_MAX, err);
    if (status == STATUS_OK)
        triage_entry_install(entry, &next, BYTES_NONE, now);
    arena_free(&arena);
    return status;
}

/* Claims a stopped rule that is not busy. NULL: none. */
static struct triage_entry *claim_stopped(struct triage_rules *rules, struct bytes dlq,
                                          size_t *of_dlq) {
    struct triage_entry *found = NULL;
    *of_dlq = 0;
    pthread_mutex_lock(&rules->mutex);
    LIST_EACH(node, &rules->entries) {
        struct triage_entry *entry = CONTAINER_OF(node, struct triage_entry, link);
        if (!entry->rule || !bytes_eq(entry->dlq, dlq))
            continue;
        ++*of_dlq;
        if (!found && !entry->busy && entry->course.stage == TRIAGE_STOPPED)
            found = entry;
    }
    if (found)
        found->busy = true;
    pthread_mutex_unlock(&rules->mutex);
    return found;
}

enum status triage_rules_resume(struct triage_rules *rules, struct bytes dlq, struct bytes who,
                                struct bytes why, struct err *err) {
    struct triage_entry *entry;
    size_t of_dlq, resumed = 0;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && (entry = claim_stopped(rules, dlq, &of_dlq))) {
        status = resume(entry, who, why, err);
        resumed += status == STATUS_OK;
        triage_entry_release(entry);
    }
    mailbox_ring(&rules->mailbox);
    if (status != STATUS_OK || resumed > 0)
        return status;
    if (of_dlq == 0)
        return err_set(err, STATUS_NOT_FOUND, "DLQ \"%.*s\" has no triage rules",
                       BYTES_ARG(bytes_clip(dlq, TRIAGE_LABEL_MAX)));
    return err_set(err, STATUS_CONFLICT, "no triage rule of DLQ \"%.*s\" has stopped",
                   BYTES_ARG(bytes_clip(dlq, TRIAGE_LABEL_MAX)));
}
