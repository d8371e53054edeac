#include "triage/alerts/alert_escalations.h"

#include <stdio.h>

#include "base/log.h"

enum {
    SETTLED_MS = 2 * 1000,      /* a decision about many letters commits them in parts */
    TOLD_MS = 60 * 1000,        /* the alerts are read more often, and save what they owe */
    RULE_TOLD_MS = 2 * TOLD_MS, /* a rule's ticket ends before its record does */
};

static struct escalation_seen *find(struct alert_escalations *state, struct bytes name) {
    for (size_t i = 0; i < state->seen_count; i++)
        if (bytes_is(name, state->seen[i].name))
            return &state->seen[i];
    return NULL;
}

static void forget(struct alert_escalations *state, struct escalation_seen *seen) {
    *seen = state->seen[--state->seen_count];
}

/* Wall times may jump: a time in the future is as good as one long ago. */
static bool is_over(struct wall since, struct wall now, int64_t ms) {
    return now.ms < since.ms || now.ms - since.ms >= ms;
}

static void drop(struct alert_escalations *state, struct triage *triage,
                 const struct escalation_record *record, struct escalation_seen *seen) {
    struct store_op op = escalation_drop_op(record->name);
    struct err err;
    if (triage_commit(triage, &op, 1, &err) == STATUS_OK)
        forget(state, seen);
    else
        log_warn("the record of an escalation could not be removed: %s", err.text);
}

static bool is_told(struct alert_escalations *state, struct triage *triage,
                    const struct escalation_record *record, struct wall now) {
    struct escalation_seen *seen = find(state, record->name);
    if (!seen) {
        if (!record->of_rule && !is_over(record->at, now, SETTLED_MS))
            return false;
        if (state->seen_count == ESCALATION_PAGE)
            return false;
        seen = &state->seen[state->seen_count++];
        snprintf(seen->name, sizeof seen->name, "%.*s", BYTES_ARG(record->name));
        seen->count = record->count;
        seen->since = now;
        return true;
    }
    if (!is_over(seen->since, now, record->of_rule ? RULE_TOLD_MS : TOLD_MS))
        return true;
    if (record->of_rule || record->count <= seen->count) {
        drop(state, triage, record, seen);
    } else {
        seen->count = record->count;
        seen->since = now;
    }
    return false;
}

/* Records that are gone: a letter that was decided meanwhile. */
static void forget_gone(struct alert_escalations *state, const struct escalation_record *records,
                        size_t count) {
    for (size_t i = state->seen_count; i-- > 0;) {
        size_t at = 0;
        while (at < count && !bytes_is(records[at].name, state->seen[i].name))
            at++;
        if (at == count)
            forget(state, &state->seen[i]);
    }
}

size_t alert_escalations_read(struct alert_escalations *state, struct triage *triage,
                              struct wall now, struct arena *arena, struct escalation_record *out) {
    struct err err;
    size_t count = 0, told = 0;
    if (escalation_list(triage, arena, out, &count, &err) != STATUS_OK) {
        log_warn("escalations cannot be read: %s", err.text);
        return 0;
    }
    forget_gone(state, out, count);
    for (size_t i = 0; i < count; i++)
        if (is_told(state, triage, &out[i], now))
            out[told++] = out[i];
    return told;
}
