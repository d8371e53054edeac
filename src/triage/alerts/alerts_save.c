/* alerts_save: alerts in the store (SPACE_ALERT), one JSON text for each, under "<rule>/<subject>".
 * An alert has at most one save in flight; changes made meanwhile are saved after it. */
#include <assert.h>
#include <stdlib.h>

#include "base/json/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "triage/alerts/alerts_state.h"

enum { SAVE_TEXT_MAX = 512 * 1024, LOAD_PAGE = 256 };

/* A save in flight. */
struct save {
    struct alerts_post post;
    struct store_commit commit;
    struct store_op op;
    struct alert *alert;
    bool drop;
    bool failed;
    size_t told; /* notices that it records as sent */
    struct buf name, value;
};

/* ---- writing ---- */

static void put_time(struct json_out *json, const char *key, struct wall at) {
    json_key(json, key);
    json_put_i64(json, at.ms);
}

static void put_owed(struct json_out *json, const struct outbox *outbox, const struct owed *owed) {
    json_open(json, '{');
    json_key(json, "to");
    json_put(json, outbox->receiver->name);
    json_key(json, "step");
    json_put_str(json, alert_step_text(owed->step));
    json_key(json, "value");
    json_put_double(json, owed->value);
    put_time(json, "since", owed->since);
    put_time(json, "at", owed->at);
    json_close(json, '}');
}

static void put_all_owed(struct json_out *json, const struct alerts *alerts,
                         const struct alert *alert) {
    json_key(json, "owed");
    json_open(json, '[');
    for (size_t i = 0; i < alerts->options.receiver_count; i++) {
        LIST_EACH(node, &alerts->outboxes[i].owed) {
            const struct owed *owed = CONTAINER_OF(node, struct owed, link);
            if (owed->alert == alert)
                put_owed(json, &alerts->outboxes[i], owed);
        }
    }
    json_close(json, ']');
}

static void put_alert(struct buf *out, const struct alerts *alerts, const struct alert *alert) {
    struct json_out json = json_out(out);
    json_open(&json, '{');
    json_key(&json, "rule");
    json_put(&json, alert->rule->name);
    json_key(&json, "subject");
    json_put(&json, alert->subject);
    json_key(&json, "words");
    json_put(&json, alert->words);
    if (alert->letters.len > 0) {
        json_key(&json, "letters");
        json_put_raw(&json, alert->letters);
    }
    json_key(&json, "owner");
    json_put(&json, alert->owner);
    json_key(&json, "runbook");
    json_put(&json, alert->runbook);
    json_key(&json, "stage");
    json_put_str(&json, alert_stage_text(alert->state.stage));
    json_key(&json, "value");
    json_put_double(&json, alert->value);
    put_time(&json, "since", alert->state.since);
    put_time(&json, "fired_at", alert->state.fired_at);
    put_time(&json, "told_at", alert->state.told_at);
    put_all_owed(&json, alerts, alert);
    json_close(&json, '}');
}

static void open_saved(struct alerts *alerts, struct alerts_post *post) {
    struct save *save = CONTAINER_OF(post, struct save, post);
    struct alert *alert = save->alert;
    if (save->failed)
        log_warn("alert %.*s: not saved: %s", BYTES_ARG(buf_view(&save->name)),
                 save->commit.err.text);
    alert->saving = false;
    assert(alert->unsaved >= save->told);
    alert->unsaved -= save->told;
    if (save->drop && !alert->changed && alert->state.stage == ALERT_QUIET && alert->owed == 0)
        alerts_drop(alerts, alert);
    buf_free(&save->name);
    buf_free(&save->value);
    free(save);
}

/* Called on the store's thread. A failed save is logged, and the notice is sent nevertheless: a
 * store in trouble must not suppress alerts. */
static void on_saved(struct store_commit *commit, enum status status) {
    struct save *save = CONTAINER_OF(commit, struct save, commit);
    struct alerts *alerts = commit->arg;
    save->failed = status != STATUS_OK;
    mailbox_post(&alerts->mailbox, &save->post.mail);
}

static void save_one(struct alerts *alerts, struct alert *alert) {
    assert(!alert->saving && alert->changed);
    struct save *save = memory_new(sizeof *save);
    save->alert = alert;
    save->drop = alert->state.stage == ALERT_QUIET && alert->owed == 0;
    save->post.open = open_saved;
    buf_init_heap(&save->name, STORE_NAME_MAX);
    buf_init_heap(&save->value, SAVE_TEXT_MAX);
    buf_printf(&save->name, "%.*s/%.*s", BYTES_ARG(alert->rule->name), BYTES_ARG(alert->subject));
    if (!save->drop)
        put_alert(&save->value, alerts, alert);
    save->op =
        (struct store_op){.kind = STORE_KEEP,
                          .keep = {.space = SPACE_ALERT,
                                   .name = buf_view(&save->name),
                                   .value = save->drop ? BYTES_NONE : buf_view(&save->value)}};
    save->commit =
        (struct store_commit){.ops = &save->op, .count = 1, .done = on_saved, .arg = alerts};
    save->told = alert->unsaved;
    alert->changed = false;
    alert->saving = true;
    alerts->under_way++;
    alerts->options.store->vtable->submit(alerts->options.store, &save->commit);
}

void alerts_save_changed(struct alerts *alerts) {
    LIST_EACH_SAFE(node, &alerts->all) {
        struct alert *alert = CONTAINER_OF(node, struct alert, link);
        if (alert->changed && !alert->saving)
            save_one(alerts, alert);
    }
}

/* ---- reading ---- */

static bool get_text(struct json object, const char *key, struct arena *arena, struct bytes *out) {
    struct json value;
    return json_get(object, key, &value) && json_string(value, arena, out);
}

static struct wall get_time(struct json object, const char *key) {
    struct json value;
    int64_t ms;
    return json_get(object, key, &value) && json_i64(value, &ms) ? (struct wall){ms} : WALL_NEVER;
}

static double get_double(struct json object, const char *key, struct arena *arena) {
    struct json value;
    return json_get(object, key, &value) ? strtod(arena_cstr(arena, value.text), NULL) : 0;
}

static const struct alert_rule *rule_named(const struct alerts *alerts, struct bytes name) {
    for (size_t i = 0; i < alerts->options.rule_count; i++)
        if (bytes_eq(alerts->options.rules[i].name, name))
            return &alerts->options.rules[i];
    return NULL;
}

static void restore_owed(struct alerts *alerts, struct alert *alert, struct json list,
                         struct arena *arena) {
    for (struct json_walk walk = json_walk(list); json_step(&walk);) {
        struct owed owed = {.alert = alert,
                            .value = get_double(walk.value, "value", arena),
                            .since = get_time(walk.value, "since"),
                            .at = get_time(walk.value, "at")};
        struct bytes to, step;
        if (get_text(walk.value, "to", arena, &to) && get_text(walk.value, "step", arena, &step) &&
            alert_step_parse(step, &owed.step))
            alerts_outbox_restore(alerts, to, &owed);
    }
}

static void restore_text(struct json whole, const char *key, struct arena *arena,
                         struct bytes *out) {
    struct bytes text;
    if (get_text(whole, key, arena, &text))
        *out = (struct bytes){bytes_dup(text), text.len};
}

/* Alerts of a rule that is no longer configured are dropped. */
static void restore(struct alerts *alerts, const struct letters_note *kept, struct arena *arena) {
    struct json whole, owed, letters;
    struct bytes name, subject, stage;
    if (json_parse(kept->value, &whole, NULL) != STATUS_OK ||
        !get_text(whole, "rule", arena, &name) || !get_text(whole, "subject", arena, &subject) ||
        !get_text(whole, "stage", arena, &stage))
        return;
    const struct alert_rule *rule = rule_named(alerts, name);
    if (!rule)
        return;
    struct alert *alert = alerts_add(alerts, rule, subject);
    restore_text(whole, "words", arena, &alert->words);
    if (json_get(whole, "letters", &letters) && letters.type == JSON_ARRAY)
        alert->letters = (struct bytes){bytes_dup(letters.text), letters.text.len};
    restore_text(whole, "owner", arena, &alert->owner);
    restore_text(whole, "runbook", arena, &alert->runbook);
    alert_stage_parse(stage, &alert->state.stage);
    alert->state.since = get_time(whole, "since");
    alert->state.fired_at = get_time(whole, "fired_at");
    alert->state.told_at = get_time(whole, "told_at");
    alert->value = get_double(whole, "value", arena);
    if (json_get(whole, "owed", &owed))
        restore_owed(alerts, alert, owed, arena);
}

enum status alerts_save_load(struct alerts *alerts, struct err *err) {
    struct store *store = alerts->options.store;
    struct letters_note page[LOAD_PAGE];
    struct arena arena;
    struct bytes after = BYTES_NONE;
    size_t count = LOAD_PAGE;
    enum status status = STATUS_OK;
    arena_init_heap(&arena, 64 * 1024);
    while (count == LOAD_PAGE && status == STATUS_OK) {
        status = letters_notes(store->letters, SPACE_ALERT, BYTES_NONE, after, false, LOAD_PAGE,
                               &arena, page, &count, err);
        for (size_t i = 0; status == STATUS_OK && i < count; i++)
            restore(alerts, &page[i], &arena);
        if (status == STATUS_OK && count > 0)
            after = page[count - 1].name;
    }
    arena_free(&arena);
    return status;
}
