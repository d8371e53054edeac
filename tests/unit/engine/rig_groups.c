#include "rig_groups.h"

#include <stdio.h>

static struct rig *rig_of(struct handler *handler) {
    return CONTAINER_OF(handler, struct rig_handler, handler)->rig;
}

static void note(struct rig *rig, const char *word, const struct call_group *group) {
    buf_printf(&rig->log, "%s%s[", rig->log.len ? " " : "", word);
    for (size_t i = 0; i < group->count; i++)
        buf_printf(&rig->log, "%s%.*s", i ? " " : "", BYTES_ARG(group->calls[i]->id));
    buf_char(&rig->log, ']');
}

void rig_groups_start(struct handler *handler, struct call_group *group) {
    struct rig *rig = rig_of(handler);
    assert_in_range(group->count, 1, RIG_GROUP_MAX);
    assert_true(rig->group_count < RIG_GROUPS_OPEN_MAX);
    rig->groups[rig->group_count++] = group;
    rig->groups_started++;
    note(rig, "start", group);
}

void rig_groups_cancel(struct handler *handler, struct call_group *group) {
    note(rig_of(handler), "cancel", group);
}

size_t rig_groups_open(const struct rig *rig) {
    return rig->group_count;
}

size_t rig_groups_started(const struct rig *rig) {
    return rig->groups_started;
}

size_t rig_groups_size(const struct rig *rig, size_t index) {
    assert_true(index < rig->group_count);
    return rig->groups[index]->count;
}

bool rig_groups_has(const struct rig *rig, size_t index, const char *id) {
    assert_true(index < rig->group_count);
    for (size_t i = 0; i < rig->groups[index]->count; i++)
        if (bytes_is(rig->groups[index]->calls[i]->id, id))
            return true;
    return false;
}

static struct call_group *take_oldest(struct rig *rig) {
    assert_true(rig->group_count > 0);
    struct call_group *group = rig->groups[0];
    memmove(rig->groups, rig->groups + 1, --rig->group_count * sizeof *rig->groups);
    return group;
}

static void end(struct rig *rig, const char *bad_id, struct outcome whole, struct outcome bad) {
    struct call_group *group = take_oldest(rig);
    struct outcome items[RIG_GROUP_MAX];
    for (size_t i = 0; i < group->count; i++)
        items[i] = bad_id && bytes_is(group->calls[i]->id, bad_id)
                       ? bad
                       : (struct outcome){.ending = ENDING_OK, .retry_after_ms = -1};
    group->done(group, &whole, whole.ending == ENDING_OK ? items : NULL);
    rig_rest(rig);
}

void rig_groups_end(struct rig *rig, struct outcome whole) {
    end(rig, NULL, whole, whole);
}

void rig_groups_end_but(struct rig *rig, const char *id, struct outcome outcome) {
    end(rig, id, (struct outcome){.ending = ENDING_OK, .retry_after_ms = -1}, outcome);
}

static bool has_any(const struct rig *rig, const char *ids) {
    char id[RIG_ID_SIZE];
    int used;
    for (; sscanf(ids, "%23s%n", id, &used) == 1; ids += used)
        if (rig_groups_has(rig, 0, id))
            return true;
    return false;
}

void rig_groups_end_all(struct rig *rig, const char *bad_ids, struct outcome outcome) {
    for (uint64_t connection = 1; rig->group_count > 0; connection++) {
        struct outcome good = {.ending = ENDING_OK, .retry_after_ms = -1, .connection = connection};
        outcome.connection = connection;
        rig_groups_end(rig, has_any(rig, bad_ids) ? outcome : good);
    }
}
