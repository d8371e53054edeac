/* triage_run: one run of a triage rule: selects letters and applies the action. Each action is
 * committed together with the rule's new schedule, so that a crash neither repeats nor loses a run.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "triage/archive/archiving.h"
#include "triage/query/audit.h"
#include "triage/decide/decision.h"
#include "triage/rules/triage_pick.h"
#include "triage/rules/triage_rules_state.h"

enum {
    RUN_ARENA_CHUNK = 64 * 1024,
    FILTER_MAX = 1 << 20,
    OPS_BESIDE = 2,
    WHY_SHOWN_MAX = 200,
    REPLAYS_OF_RULES_MAX = REPLAYS_ACTIVE_MAX / 2,
};

struct run {
    struct triage_entry *entry;
    const struct triage_rules_options *options;
    struct instant now;
    struct rule_schedule next; /* the new schedule, once it is durable */
    struct triage_picked picked;
    struct bytes who, why, filter;
    struct bytes under_way;
    struct arena arena;
    struct err *err;
};

/* ---- texts ---- */

/* {"rule":"orders.dlq[0]","when":{…},…} */
static struct bytes filter_of(struct run *run) {
    struct buf text;
    buf_init_heap(&text, FILTER_MAX);
    struct json_out json = json_out(&text);
    json_open(&json, '{');
    json_key(&json, "rule");
    json_put_str(&json, run->entry->label);
    triage_rule_put(&json, run->entry->rule);
    json_close(&json, '}');
    struct bytes filter = arena_dup(&run->arena, buf_view(&text));
    buf_free(&text);
    return filter;
}

static struct bytes why_of(struct run *run) {
    char why[TRIAGE_LABEL_MAX + sizeof "triage rule : compensate"];
    snprintf(why, sizeof why, "triage rule %s: %s", run->entry->label,
             triage_rule_actions[run->entry->rule->action]);
    return arena_dup(&run->arena, bytes_of(why));
}

static struct bytes ids_json(struct run *run) {
    struct buf text;
    buf_init_heap(&text, FILTER_MAX);
    struct json_out json = json_out(&text);
    json_open(&json, '[');
    for (size_t i = 0; i < run->picked.count; i++)
        json_put(&json, run->picked.ids[i]);
    json_close(&json, ']');
    struct bytes ids = arena_dup(&run->arena, buf_view(&text));
    buf_free(&text);
    return ids;
}

static struct store_keep note_of(struct run *run) {
    return triage_entry_keep(run->entry, &run->next, run->under_way, &run->arena);
}

/* Lists of letters are newest first, and are sent from their end. */
static enum status choose(struct run *run, struct selection *out) {
    struct bytes *ids = arena_alloc(&run->arena, run->picked.count * sizeof *ids);
    for (size_t i = 0; i < run->picked.count; i++)
        ids[run->picked.count - 1 - i] = run->picked.ids[i];
    selection_init(out);
    out->ids = ids;
    out->as_given = true;
    out->id_count = run->picked.count;
    out->as_json = run->filter;
    return selection_finish(out, run->err);
}

/* ---- actions ---- */

/* The next run is set when this one has ended. */
static void set_running(struct run *run) {
    run->next.stage = TRIAGE_RUNNING;
    run->next.next_run_at = WALL_NEVER;
}

/* Replays of rules may wait for a long time; room is left for those of people. */
static enum status check_room(struct run *run) {
    struct replays_totals totals;
    uint64_t active = 0;
    replays_totals(run->options->replays, &totals);
    for (int i = 0; i < REPLAY_STATE_COUNT; i++)
        active += totals.active[i];
    if (active < REPLAYS_OF_RULES_MAX)
        return STATUS_OK;
    return err_set(run->err, STATUS_BUSY, "%d replays are active; waiting until one has ended",
                   (int)active);
}

static enum status replay(struct run *run) {
    const struct triage_rule *rule = run->entry->rule;
    struct replay_order order;
    char id[UUID_TEXT_SIZE];
    replay_order_init(&order);
    enum status status = check_room(run);
    if (status == STATUS_OK)
        status = choose(run, &order.selection);
    if (status != STATUS_OK)
        return status;
    triage_new_id(run->options->triage, run->now.wall, run->next.replay);
    set_running(run);
    order.edit = rule->edit;
    order.to = rule->to;
    order.rate = rule->rate;
    order.guarded = rule->canary_count > 0;
    order.canary_count = rule->canary_count;
    memcpy(order.canary, rule->canary, sizeof order.canary);
    order.who = run->who;
    order.why = run->why;
    order.id = bytes_of(run->next.replay);
    order.note = note_of(run);
    return replays_start(run->options->replays, &order, id, run->err);
}

static enum status decide(struct run *run, enum decision_kind kind) {
    struct letter_decision ruling = {
        .kind = kind,
        .who = run->who,
        .why = run->why,
        .note = note_of(run),
        .ticket = bytes_of(kind == DECISION_ESCALATE ? run->next.ticket : ""),
        .compensates = run->options->compensates,
        .arg = run->options->arg};
    struct decision_result result;
    enum status status = choose(run, &ruling.selection);
    if (status != STATUS_OK)
        return status;
    status = decision_many(run->options->triage, &ruling, &run->arena, &result, run->err);
    if (status == STATUS_OK && result.changed + result.busy == 0)
        return err_set(run->err, STATUS_CONFLICT, "its letters were changed meanwhile");
    return status;
}

static enum status discard(struct run *run) {
    return decide(run, DECISION_DISCARD);
}

static enum status escalate(struct run *run) {
    run->next.escalated += run->picked.count;
    if (!run->next.ticket[0])
        triage_new_id(run->options->triage, run->now.wall, run->next.ticket);
    run->next.ticket_letters += run->picked.count;
    return decide(run, DECISION_ESCALATE);
}

static enum status compensate(struct run *run) {
    set_running(run);
    run->under_way = ids_json(run);
    return decide(run, DECISION_COMPENSATE);
}

static struct store_op forget_op(struct run *run, const struct message *held) {
    struct store *store = run->options->triage->store;
    return (struct store_op){.kind = STORE_FORGET,
                             .queue = store->vtable->queue_number(store, held->envelope.queue),
                             .seq = held->seq,
                             .from = 1u << STATE_PENDING_REVIEW};
}

/* The letters are durable in the archive. A crash before this commit leaves them in both; importing
 * the archive then changes nothing. */
static enum status remove_archived(struct run *run, const struct manifest *manifest) {
    const struct triage_picked *picked = &run->picked;
    struct store_op *ops = memory_array(picked->count + OPS_BESIDE, sizeof *ops);
    struct audit_entry entry = {.who = run->who,
                                .what = "archive",
                                .why = run->why,
                                .subject = run->entry->dlq,
                                .filter = run->filter,
                                .count = picked->count,
                                .before = BYTES("{\"state\":\"pending_review\"}"),
                                .after = archiving_after(manifest, &run->arena)};
    size_t count = 0;
    audit_begin(run->options->triage, &entry);
    while (count < picked->count) {
        ops[count] = forget_op(run, picked->whole[count]);
        count++;
    }
    ops[count++] = audit_op(&entry, &run->arena);
    ops[count++] = (struct store_op){.kind = STORE_KEEP, .keep = note_of(run)};
    enum status status = triage_commit(run->options->triage, ops, count, run->err);
    if (status == STATUS_OK)
        status = archiving_drop_originals(run->options->triage, picked->whole, ops, picked->count,
                                          run->err);
    free(ops);
    return status;
}

static enum status archive(struct run *run) {
    const struct triage_dlq *place = &run->entry->place;
    struct archiving_place to = {run->options->base_dir, place->archive, place->name};
    struct manifest manifest;
    enum status status = archiving_write(run->options->triage, &to, run->picked.whole,
                                         run->picked.count, &run->arena, &manifest, run->err);
    return status == STATUS_OK ? remove_archived(run, &manifest) : status;
}

static enum status (*const actions[])(struct run *run) = {
    [TRIAGE_REPLAY] = replay,   [TRIAGE_ARCHIVE] = archive,       [TRIAGE_ESCALATE] = escalate,
    [TRIAGE_DISCARD] = discard, [TRIAGE_COMPENSATE] = compensate,
};

/* ---- the run ---- */

static enum status pick(struct run *run) {
    struct triage_pick wanted = {.triage = run->options->triage,
                                 .replays = run->options->replays,
                                 .dlq = &run->entry->place,
                                 .rule = run->entry->rule,
                                 .compensates = run->options->compensates,
                                 .arg = run->options->arg,
                                 .ending = &run->entry->rules->ending,
                                 .now = run->now.wall};
    enum status status = triage_pick(&wanted, &run->arena, &run->picked, run->err);
    if (status == STATUS_OK && run->picked.skipped > 0)
        log_warn("triage rule %s: where: %llu letters skipped, the first: %s", run->entry->label,
                 (unsigned long long)run->picked.skipped, run->picked.first_skipped.text);
    return status;
}

static enum status act(struct run *run) {
    assert(run->picked.count > 0);
    enum triage_action action = run->entry->rule->action;
    run->who = triage_entry_who(run->entry, &run->arena);
    run->why = why_of(run);
    run->filter = filter_of(run);
    run->next.why[0] = '\0';
    run->next.runs++;
    run->next.letters[action] += run->picked.count;
    enum status status = actions[action](run);
    if (status == STATUS_OK)
        log_info("triage rule %s: %s: %zu letters", run->entry->label, triage_rule_actions[action],
                 run->picked.count);
    return status;
}

/* After an error: retries soon; nothing has changed except `why`. */
static void postpone(struct run *run) {
    struct rule_schedule course = run->entry->course;
    if (strncmp(course.why, run->err->text, WHY_SHOWN_MAX) != 0)
        log_error("triage rule %s: %s", run->entry->label, run->err->text);
    snprintf(course.why, sizeof course.why, "%.*s", WHY_SHOWN_MAX, run->err->text);
    triage_entry_install(run->entry, &course, BYTES_NONE, run->now);
    run->entry->due = mono_after(run->now.mono, TRIAGE_AGAIN_MS);
}

void triage_run(struct triage_entry *entry, struct instant now) {
    assert(entry->busy && entry->rule && entry->course.stage == TRIAGE_WAITING);
    struct err err = {STATUS_OK, ""};
    struct run run = {.entry = entry,
                      .options = &entry->rules->options,
                      .now = now,
                      .next = entry->course,
                      .err = &err};
    arena_init_heap(&run.arena, RUN_ARENA_CHUNK);
    if (run.next.useless == 0)
        run.next.why[0] = '\0';
    rule_schedule_rest(&run.next, entry->rule, now.wall);
    enum status status = pick(&run);
    if (status == STATUS_OK && run.picked.count > 0)
        status = act(&run);
    if (status == STATUS_OK)
        triage_entry_install(entry, &run.next, run.under_way, now);
    else if (!entry->rules->ending)
        postpone(&run);
    triage_picked_free(&run.picked);
    arena_free(&run.arena);
}
