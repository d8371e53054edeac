/* replay_job: one replay in memory: its state, its parts, and the letters in flight. Belongs to the
 * replays' thread (replay_state.h); `counts` always agrees with the outcomes of all its parts. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "triage/replay/replay_state.h"

enum { JOB_ARENA_CHUNK = 1024, EVENT_MAX = 1 << 20 };

struct replay *replay_new(struct replays *replays, const char *id) {
    struct replay *replay = memory_new(sizeof *replay);
    replay->replays = replays;
    snprintf(replay->id, sizeof replay->id, "%s", id);
    arena_init_heap(&replay->arena, JOB_ARENA_CHUNK);
    list_init(&replay->link);
    list_init(&replay->parts);
    list_init(&replay->window);
    list_init(&replay->watching);
    replay->batch_max = REPLAY_BATCH_MAX;
    return replay;
}

static void free_under_way(struct map_node *node) {
    free(CONTAINER_OF(node, struct replay_under_way, node));
}

void replay_free(struct replay *replay) {
    if (!replay)
        return;
    list_remove(&replay->link);
    LIST_EACH_SAFE(node, &replay->parts)
    replay_part_free(CONTAINER_OF(node, struct replay_part, link));
    LIST_EACH_SAFE(node, &replay->window)
    replay_ready_drop(CONTAINER_OF(node, struct sending, link));
    map_drain(&replay->under_way, free_under_way);
    map_drain(&replay->watched, free_under_way);
    arena_free(&replay->arena);
    free(replay->claims);
    free(replay->ops);
    free(replay);
}

void replay_set_order(struct replay *replay, const struct replay_order *order) {
    struct arena *arena = &replay->arena;
    replay->order = *order;
    replay->order.selection.as_json = arena_dup(arena, order->selection.as_json);
    replay->order.edit = arena_dup(arena, order->edit);
    replay->order.to = arena_dup(arena, order->to);
    replay->order.when_version = arena_dup(arena, order->when_version);
    replay->order.who = arena_dup(arena, order->who);
    replay->order.why = arena_dup(arena, order->why);
}

void replay_add_name(struct replay *replay, struct bytes *names, size_t *count, struct bytes name) {
    for (size_t i = 0; i < *count; i++)
        if (bytes_eq(names[i], name))
            return;
    if (*count < REPLAY_NAMES_MAX)
        names[(*count)++] = arena_dup(&replay->arena, name);
}

bool replay_is_over(const struct replay *replay) {
    return replay->state == REPLAY_ABORTED || replay->state == REPLAY_DONE;
}

static int by_value(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

void replay_sort_claims(struct replay *replay) {
    if (replay->selected > 0)
        qsort(replay->claims, replay->selected, sizeof *replay->claims, by_value);
}

/* Letters that an aborted replay did not send are free; those that it sent are `replaying`, which
 * is checked elsewhere. */
bool replay_claims(const struct replay *replay, struct bytes letter_id) {
    uint64_t hash = bytes_hash(letter_id);
    return !replay_is_over(replay) && replay->selected > 0 &&
           bsearch(&hash, replay->claims, replay->selected, sizeof hash, by_value) != NULL;
}

static void publish_event(struct replay *replay) {
    const struct replay_around *around = &replay->replays->around;
    char at[INSTANT_TEXT_SIZE];
    struct buf text, doc;
    if (!around->event)
        return;
    buf_init_heap(&text, EVENT_MAX);
    buf_init_heap(&doc, EVENT_MAX);
    replay_doc_put(replay, &doc);
    struct json_out json = json_out(&text);
    json_open(&json, '{');
    json_key(&json, "type");
    json_put_str(&json, "replay");
    json_key(&json, "at");
    json_put_str(&json, wall_text(replay->replays->now.wall, at));
    json_key(&json, "replay");
    json_put_raw(&json, buf_view(&doc));
    json_close(&json, '}');
    around->event(around->arg, "replay", buf_view(&text));
    buf_free(&doc);
    buf_free(&text);
}

void replay_set_state(struct replay *replay, enum replay_state state, const char *why) {
    assert(state < REPLAY_STATE_COUNT);
    if (replay->state == state && strcmp(replay->why, why) == 0)
        return;
    bool other = replay->state != state;
    replay->state = state;
    snprintf(replay->why, sizeof replay->why, "%s", why);
    replay->changed = true;
    if (!other)
        return;
    log_info("replay %s: %s%s%s", replay->id, replay_state_text(state), why[0] ? ": " : "", why);
    publish_event(replay);
}

/* ---- parts ---- */

uint64_t replay_frozen(const struct replay *replay, uint64_t place) {
    return selection_oldest_first(&replay->order.selection) ? place : replay->selected - 1 - place;
}

struct replay_part *replay_part_of(struct replay *replay, uint64_t place, uint32_t *at) {
    uint64_t frozen = replay_frozen(replay, place);
    uint32_t number = (uint32_t)(frozen / REPLAY_PART_LETTERS);
    struct err err;
    *at = (uint32_t)(frozen % REPLAY_PART_LETTERS);
    LIST_EACH(node, &replay->parts) {
        struct replay_part *part = CONTAINER_OF(node, struct replay_part, link);
        if (part->number == number)
            return part;
    }
    struct replay_part *part = NULL;
    enum status status = replay_part_load(replay->replays->triage, replay->id, number, &part, &err);
    if (status == STATUS_OK && *at < part->count) {
        list_push_front(&replay->parts, &part->link);
        return part;
    }
    replay_part_free(part);
    replay_abort(replay, BYTES("impound"),
                 bytes_of(status == STATUS_OK ? "the stored selection is damaged" : err.text));
    return NULL;
}

void replay_note(struct replay *replay, uint64_t place, enum replay_outcome outcome,
                 struct bytes why) {
    uint32_t at;
    struct replay_part *part = replay_part_of(replay, place, &at);
    if (!part)
        return;
    assert(replay->counts.by[replay_part_outcome(part, at)] > 0);
    replay->counts.by[replay_part_outcome(part, at)]--;
    replay->counts.by[outcome]++;
    replay->replays->totals.letters.by[outcome]++;
    replay_part_note(part, at, outcome, why);
    replay->changed = true;
}

static bool is_needed(const struct replay *replay, const struct replay_part *part) {
    struct replay_counts counts = {{0}};
    replay_part_count(part, &counts);
    bool waits = counts.by[REPLAYED_WAITING] > 0 && !replay_is_over(replay);
    return part->dirty || waits || counts.by[REPLAYED_SENT] > 0;
}

void replay_drop_parts(struct replay *replay) {
    LIST_EACH_SAFE(node, &replay->parts) {
        struct replay_part *part = CONTAINER_OF(node, struct replay_part, link);
        if (!is_needed(replay, part))
            replay_part_free(part);
    }
}

/* ---- letters in flight ---- */

void replay_put_under_way(struct replay *replay, uint64_t place, struct bytes letter_id,
                          uint64_t fingerprint) {
    struct replay_under_way *under_way = memory_new(sizeof *under_way + letter_id.len + 1);
    under_way->place = place;
    under_way->fingerprint = fingerprint;
    list_init(&under_way->link);
    under_way->sent_at = replay->replays->now.mono;
    memcpy(under_way->id, letter_id.ptr, letter_id.len);
    map_insert(&replay->under_way, &under_way->node, bytes_hash(letter_id));
}

static struct replay_under_way *find(const struct map *letters, struct bytes letter_id) {
    for (struct map_node *node = map_first(letters, bytes_hash(letter_id)); node;
         node = map_next(node)) {
        struct replay_under_way *under_way = CONTAINER_OF(node, struct replay_under_way, node);
        if (bytes_is(letter_id, under_way->id))
            return under_way;
    }
    return NULL;
}

struct replay_under_way *replay_find_under_way(const struct replay *replay,
                                               struct bytes letter_id) {
    return find(&replay->under_way, letter_id);
}

void replay_end_under_way(struct replay *replay, struct replay_under_way *under_way) {
    assert(replay->under_way.count > 0);
    map_remove(&replay->under_way, &under_way->node);
    free(under_way);
}

/* ---- letters at their origin ---- */

void replay_watch(struct replay *replay, struct replay_under_way *under_way) {
    assert(replay->watched.count <= REPLAY_WATCHED_MAX);
    map_remove(&replay->under_way, &under_way->node);
    if (replay->watched.count == REPLAY_WATCHED_MAX) {
        free(under_way);
        return;
    }
    map_insert(&replay->watched, &under_way->node, under_way->node.hash);
    list_push_back(&replay->watching, &under_way->link);
}

struct replay_under_way *replay_find_watched(const struct replay *replay, struct bytes letter_id) {
    return find(&replay->watched, letter_id);
}

void replay_end_watched(struct replay *replay, struct replay_under_way *watched) {
    map_remove(&replay->watched, &watched->node);
    list_remove(&watched->link);
    free(watched);
}

void replay_drop_watched(struct replay *replay) {
    int64_t before = replay->replays->now.mono.ms - (int64_t)FAILURE_GUARD_SECONDS * 1000;
    LIST_EACH_SAFE(node, &replay->watching) {
        struct replay_under_way *watched = CONTAINER_OF(node, struct replay_under_way, link);
        if (watched->sent_at.ms >= before)
            return;
        replay_end_watched(replay, watched);
    }
}
