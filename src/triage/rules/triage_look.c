/* triage_look: whether a run of a triage rule has ended, and whether it helped. The end of a run,
 * its schedule and the escalation of failed compensations are one commit. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "triage/query/audit.h"
#include "triage/rules/triage_rules_state.h"

enum {
    LOOK_ARENA_CHUNK = 16 * 1024,
    OPS_BESIDE = 3, /* the schedule and two audit entries */
    AFTER_MAX = 64 * 1024,
};

#define WHY_ESCALATED "its compensation failed"

struct look {
    struct triage_entry *entry;
    struct triage *triage;
    struct instant now;
    struct triage_counts counter;
    struct store_op *ops; /* escalations of letters whose compensation failed */
    size_t op_count;
    struct arena arena;
    struct err *err;
};

/* ---- a replay ---- */

static enum status check_replay(struct look *look, bool *over) {
    struct replays_end end;
    enum status status = replays_ended(look->entry->rules->options.replays,
                                       bytes_of(look->entry->course.replay), &end, look->err);
    *over = status == STATUS_NOT_FOUND || end.over;
    if (status == STATUS_NOT_FOUND) /* replays expire */
        return STATUS_OK;
    look->counter = (struct triage_counts){.sent = replay_sent(&end.counts),
                                           .fixed = end.counts.by[REPLAYED_RESOLVED],
                                           .failed = end.counts.by[REPLAYED_FAILED],
                                           .escalated = end.counts.by[REPLAYED_ESCALATED],
                                           .aborted = end.aborted};
    snprintf(look->counter.why, sizeof look->counter.why, "replay %s aborted: %.160s",
             look->entry->course.replay, end.why);
    return status;
}

/* ---- compensations ---- */

/* A rule tries to compensate a letter once; if that fails, the letter is escalated. */
static struct store_op escalate_op(const struct look *look, const struct message *held) {
    struct store *store = look->triage->store;
    return (struct store_op){.kind = STORE_MARK,
                             .queue = store->vtable->queue_number(store, held->envelope.queue),
                             .seq = held->seq,
                             .from = 1u << STATE_PENDING_REVIEW,
                             .mark = {.state = STATE_PENDING_REVIEW,
                                      .escalated = true,
                                      .at = look->now.wall,
                                      .why = BYTES(WHY_ESCALATED)}};
}

static void count_compensation(struct look *look, const struct message *held) {
    struct triage_counts *counter = &look->counter;
    bool failed = held->envelope.state == STATE_PENDING_REVIEW &&
                  held->envelope.escalated_at.ms == WALL_NEVER.ms;
    counter->sent++;
    counter->fixed += held->envelope.state == STATE_RESOLVED;
    counter->failed += failed;
    counter->escalated += failed;
    if (failed)
        look->ops[look->op_count++] = escalate_op(look, held);
}

static enum status check_compensations(struct look *look, struct json ids, bool *over) {
    struct store *store = look->triage->store;
    struct bytes id;
    *over = true;
    for (struct json_walk walk = json_walk(ids); *over && json_step(&walk);) {
        struct message *held = NULL;
        if (!json_string(walk.value, &look->arena, &id))
            continue;
        enum status status = letters_get(store->letters, BYTES_NONE, id, &held, look->err);
        if (status == STATUS_OK && held->envelope.state == STATE_REPLAYING)
            *over = false;
        else if (status == STATUS_OK)
            count_compensation(look, held);
        message_free(held);
        if (status != STATUS_OK && status != STATUS_NOT_FOUND)
            return status;
    }
    return STATUS_OK;
}

static enum status check_run(struct look *look, bool *over) {
    struct json ids;
    size_t count = 0;
    if (look->entry->course.replay[0])
        return check_replay(look, over);
    struct bytes text = look->entry->under_way ? bytes_of(look->entry->under_way) : BYTES("[]");
    if (json_parse(text, &ids, look->err) != STATUS_OK)
        return STATUS_CORRUPT;
    for (struct json_walk walk = json_walk(ids); json_step(&walk);)
        count++;
    look->ops = memory_array(count + OPS_BESIDE, sizeof *look->ops);
    return check_compensations(look, ids, over);
}

/* ---- the end of a run ---- */

static struct store_op stop_op(struct look *look, const struct rule_schedule *next) {
    struct buf after;
    buf_init_heap(&after, AFTER_MAX);
    struct json_out json = json_out(&after);
    json_open(&json, '{');
    rule_schedule_put(&json, next);
    json_close(&json, '}');
    struct audit_entry entry = {.who = triage_entry_who(look->entry, &look->arena),
                                .what = "triage.stop",
                                .why = bytes_of(next->why),
                                .subject = bytes_of(look->entry->label),
                                .after = buf_view(&after)};
    audit_begin(look->triage, &entry);
    struct store_op op = audit_op(&entry, &look->arena);
    buf_free(&after);
    return op;
}

static struct store_op escalated_op(struct look *look) {
    struct audit_entry entry = {.who = triage_entry_who(look->entry, &look->arena),
                                .what = "escalate",
                                .why = BYTES(WHY_ESCALATED),
                                .subject = look->entry->dlq,
                                .count = look->op_count,
                                .before = BYTES("{\"state\":\"pending_review\"}"),
                                .after =
                                    BYTES("{\"state\":\"pending_review\",\"escalated\":true}")};
    audit_begin(look->triage, &entry);
    return audit_op(&entry, &look->arena);
}

static enum status end(struct look *look) {
    struct rule_schedule next = look->entry->course;
    rule_schedule_judge(&next, look->entry->rule, &look->counter, look->now.wall);
    if (!look->ops)
        look->ops = memory_array(OPS_BESIDE, sizeof *look->ops);
    struct store_op *ops = look->ops;
    if (look->op_count > 0) {
        struct store_op escalated = escalated_op(look);
        ops[look->op_count++] = escalated;
    }
    ops[look->op_count++] =
        (struct store_op){.kind = STORE_KEEP,
                          .keep = triage_entry_keep(look->entry, &next, BYTES_NONE, &look->arena)};
    if (next.stage == TRIAGE_STOPPED)
        ops[look->op_count++] = stop_op(look, &next);
    enum status status = triage_commit(look->triage, ops, look->op_count, look->err);
    if (status != STATUS_OK)
        return status;
    if (next.stage == TRIAGE_STOPPED)
        log_warn("triage rule %s stopped itself: %s", look->entry->label, next.why);
    triage_entry_install(look->entry, &next, BYTES_NONE, look->now);
    return STATUS_OK;
}

void triage_look(struct triage_entry *entry, struct instant now) {
    assert(entry->busy && entry->rule && entry->course.stage == TRIAGE_RUNNING);
    struct err err = {STATUS_OK, ""};
    struct look look = {
        .entry = entry, .triage = entry->rules->options.triage, .now = now, .err = &err};
    bool over = false;
    arena_init_heap(&look.arena, LOOK_ARENA_CHUNK);
    enum status status = check_run(&look, &over);
    entry->due = mono_after(now.mono, TRIAGE_LOOK_MS);
    if (status == STATUS_OK && over)
        status = end(&look);
    if (status != STATUS_OK) {
        log_error("triage rule %s: %s", entry->label, err.text);
        entry->due = mono_after(now.mono, TRIAGE_AGAIN_MS);
    }
    free(look.ops);
    arena_free(&look.arena);
}
