#include "engine/features/flood_guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "core/fingerprint.h"
#include "core/outage/flood.h"
#include "engine/queue/queue_facts.h"
#include "engine/feature.h"

enum { MINUTE_MS = 60 * 1000, WHY_MAX = 256, WHY_NAME_MAX = 64 };

/* The state of a queue's flood guard beside the counts. */
struct flood_guard {
    struct flood flood;
    char dlq[256];
    char reason[128];
    int64_t saved_minute; /* when the counts were last put into the facts */
};

static struct flood_guard *guard_of(struct queue *queue) {
    if (!queue->flood)
        queue->flood = memory_new(sizeof *queue->flood);
    return queue->flood;
}

static void copy_text(char *out, size_t size, struct bytes text) {
    snprintf(out, size, "%.*s", BYTES_ARG(bytes_clip(text, size - 1)));
}

/* ---- judging ---- */

static bool is_first_attempt(const struct attempt *attempt, const struct decision *decision) {
    const struct envelope *envelope = &attempt->held->envelope;
    return !attempt->report && !attempt->replay && envelope->replays == 0 && decision->counted &&
           !attempt->counted_before && envelope->attempts == 1 &&
           attempt->outcome.ending != ENDING_INTERRUPTED;
}

/* "flood: 52 of 60 first attempts died of 9f2c… (bad_request), consumer version v2" */
static void put_why(const struct flood_guard *guard, struct buf *out) {
    const struct flood *flood = &guard->flood;
    buf_printf(out, "flood: %u of %u first attempts died of group %016llx (%s)", flood->dead,
               flood->of, (unsigned long long)flood->fingerprint, guard->reason);
    if (flood->version[0])
        buf_printf(out, ", consumer version %.*s",
                   BYTES_ARG(bytes_clip(bytes_of(flood->version), WHY_NAME_MAX)));
}

static void begin(struct queue *queue, struct flood_guard *guard, const struct envelope *letter) {
    char memory[WHY_MAX];
    struct buf why;
    copy_text(guard->dlq, sizeof guard->dlq, letter->dlq);
    copy_text(guard->reason, sizeof guard->reason, letter->reason);
    buf_init_fixed(&why, memory, sizeof memory);
    put_why(guard, &why);
    log_about(LOG_WARN, QUEUE_ABOUT(queue), "%s", buf_cstr(&why));
    if (queue->rules.flood.then == FLOOD_HOLD)
        queue_halt(queue, buf_cstr(&why));
    queue_facts_changed(queue);
    notice_queue(queue);
}

void flood_guard_judged(const struct attempt *attempt, const struct decision *decision) {
    struct queue *queue = attempt->queue;
    const struct flood_policy *policy = &queue->rules.flood;
    if (policy->then == FLOOD_OFF || !is_first_attempt(attempt, decision))
        return;
    const struct envelope *envelope = &attempt->held->envelope;
    struct flood_guard *guard = guard_of(queue);
    bool dead = decision->action == ACTION_DEAD;
    struct flood_note note = {.dead = dead,
                              .fingerprint = dead ? envelope->fingerprint : 0,
                              .version = dead ? envelope->version : attempt->outcome.version};
    struct mono now = queue->engine->now.mono;
    if (flood_count(&guard->flood, policy, now, &note))
        begin(queue, guard, envelope);
    else if (now.ms / MINUTE_MS != guard->saved_minute)
        queue_facts_changed(queue);
}

void flood_guard_resumed(struct queue *queue) {
    if (!queue->flood || !queue->flood->flood.on)
        return;
    flood_resume(&queue->flood->flood, queue->engine->now.mono);
    queue_facts_changed(queue);
}

void flood_guard_view(struct queue *queue, struct mono now, struct engine_flood *out) {
    struct flood_guard *guard = queue->flood;
    bool held = queue->state == QUEUE_HALTED && queue->rules.flood.then == FLOOD_HOLD;
    *out = (struct engine_flood){.on = false};
    if (!guard || !flood_lasts(&guard->flood, &queue->rules.flood, now, held))
        return;
    *out = (struct engine_flood){.on = true,
                                 .held = held,
                                 .fingerprint = guard->flood.fingerprint,
                                 .dead = guard->flood.dead,
                                 .of = guard->flood.of};
    copy_text(out->dlq, sizeof out->dlq, bytes_of(guard->dlq));
    copy_text(out->reason, sizeof out->reason, bytes_of(guard->reason));
    copy_text(out->version, sizeof out->version, bytes_of(guard->flood.version));
}

/* ---- the facts ---- */

static void put_fingerprint(struct json_out *json, uint64_t fingerprint) {
    char text[FINGERPRINT_TEXT_SIZE];
    json_key(json, "fingerprint");
    json_put_str(json, fingerprint_text(fingerprint, text));
}

/* Newest first; trailing zeroes are left out. */
static void put_minutes(struct json_out *json, const char *key, const struct flood *flood,
                        const struct flood_counts *counts, struct mono now) {
    size_t count = FLOOD_MINUTES;
    while (count > 0 && flood_minute(flood, counts, now, count - 1) == 0)
        count--;
    json_key(json, key);
    json_open(json, '[');
    for (size_t ago = 0; ago < count; ago++)
        json_put_i64(json, flood_minute(flood, counts, now, ago));
    json_close(json, ']');
}

static void put_groups(struct json_out *json, const struct flood *flood, struct mono now) {
    json_key(json, "groups");
    json_open(json, '[');
    for (size_t i = 0; i < FLOOD_GROUPS; i++) {
        if (!flood->groups[i].used)
            continue;
        json_open(json, '{');
        put_fingerprint(json, flood->groups[i].fingerprint);
        put_minutes(json, "dead", flood, &flood->groups[i].dead, now);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void put_on(struct json_out *json, const struct flood_guard *guard) {
    json_key(json, "on");
    json_open(json, '{');
    put_fingerprint(json, guard->flood.fingerprint);
    json_key(json, "version");
    json_put_str(json, guard->flood.version);
    json_key(json, "dlq");
    json_put_str(json, guard->dlq);
    json_key(json, "reason");
    json_put_str(json, guard->reason);
    json_key(json, "dead");
    json_put_i64(json, guard->flood.dead);
    json_key(json, "of");
    json_put_i64(json, guard->flood.of);
    json_close(json, '}');
}

static void put_pass(struct json_out *json, const struct flood *flood, struct instant now) {
    json_key(json, "pass");
    json_open(json, '{');
    put_fingerprint(json, flood->pass_fingerprint);
    json_key(json, "version");
    json_put_str(json, flood->pass_version);
    json_key(json, "until");
    json_put_i64(json, now.wall.ms + (flood->pass_until.ms - now.mono.ms));
    json_close(json, '}');
}

void flood_guard_put(struct queue *queue, struct json_out *json) {
    struct flood_guard *guard = queue->flood;
    struct instant now = queue->engine->now;
    if (!guard)
        return;
    guard->saved_minute = now.mono.ms / MINUTE_MS;
    json_key(json, "flood");
    json_open(json, '{');
    json_key(json, "at");
    json_put_i64(json, now.wall.ms);
    put_minutes(json, "first", &guard->flood, &guard->flood.first, now.mono);
    put_groups(json, &guard->flood, now.mono);
    if (guard->flood.on)
        put_on(json, guard);
    if (guard->flood.passes)
        put_pass(json, &guard->flood, now);
    json_close(json, '}');
}

static bool get_text(struct json object, const char *key, struct arena *arena, struct bytes *out) {
    struct json value;
    return json_get(object, key, &value) && json_string(value, arena, out);
}

static int64_t get_number(struct json object, const char *key) {
    struct json value;
    int64_t number;
    return json_get(object, key, &value) && json_i64(value, &number) ? number : 0;
}

static bool get_fingerprint(struct json object, struct arena *arena, uint64_t *out) {
    struct bytes text;
    return get_text(object, "fingerprint", arena, &text) && fingerprint_parse(text, out);
}

/* `fingerprint` NULL: counts of all first attempts. Values that are no counts are skipped. */
static void load_minutes(struct queue *queue, struct json list, size_t ago,
                         const uint64_t *fingerprint) {
    struct flood *flood = &queue->flood->flood;
    struct mono now = queue->engine->now.mono;
    for (struct json_walk walk = json_walk(list); json_step(&walk) && ago < FLOOD_MINUTES; ago++) {
        int64_t count;
        if (!json_i64(walk.value, &count) || count <= 0 || count > UINT32_MAX)
            continue;
        if (fingerprint)
            flood_restore_dead(flood, now, *fingerprint, ago, (uint32_t)count);
        else
            flood_restore_first(flood, now, ago, (uint32_t)count);
    }
}

static void load_on(struct flood_guard *guard, struct json on, struct arena *arena) {
    struct flood *flood = &guard->flood;
    struct bytes text;
    if (!get_fingerprint(on, arena, &flood->fingerprint))
        return;
    flood->on = true;
    flood->dead = (uint32_t)get_number(on, "dead");
    flood->of = (uint32_t)get_number(on, "of");
    if (get_text(on, "version", arena, &text))
        copy_text(flood->version, sizeof flood->version, text);
    if (get_text(on, "dlq", arena, &text))
        copy_text(guard->dlq, sizeof guard->dlq, text);
    if (get_text(on, "reason", arena, &text))
        copy_text(guard->reason, sizeof guard->reason, text);
}

/* A clock that was set back must not extend the pass. */
static void load_pass(struct flood *flood, struct json pass, struct instant now,
                      struct arena *arena) {
    struct bytes text;
    int64_t left = get_number(pass, "until") - now.wall.ms;
    if (left <= 0 || !get_fingerprint(pass, arena, &flood->pass_fingerprint))
        return;
    flood->passes = true;
    flood->pass_until = mono_after(now.mono, left < FLOOD_PASS_MS ? left : FLOOD_PASS_MS);
    if (get_text(pass, "version", arena, &text))
        copy_text(flood->pass_version, sizeof flood->pass_version, text);
}

void flood_guard_load(struct queue *queue, struct json facts, struct arena *arena) {
    struct json whole, list, part;
    struct instant now = queue->engine->now;
    if (!json_get(facts, "flood", &whole) || whole.type != JSON_OBJECT)
        return;
    struct flood_guard *guard = guard_of(queue);
    int64_t passed = (now.wall.ms - get_number(whole, "at")) / MINUTE_MS;
    size_t ago = passed <= 0 ? 0 : passed < FLOOD_MINUTES ? (size_t)passed : FLOOD_MINUTES;
    if (json_get(whole, "first", &list))
        load_minutes(queue, list, ago, NULL);
    if (json_get(whole, "groups", &list))
        for (struct json_walk walk = json_walk(list); json_step(&walk);) {
            uint64_t fingerprint;
            if (get_fingerprint(walk.value, arena, &fingerprint) &&
                json_get(walk.value, "dead", &part))
                load_minutes(queue, part, ago, &fingerprint);
        }
    if (json_get(whole, "on", &part))
        load_on(guard, part, arena);
    if (json_get(whole, "pass", &part))
        load_pass(&guard->flood, part, now, arena);
}

/* ---- the feature ---- */

static void judged(struct attempt *attempt, const struct decision *decision) {
    flood_guard_judged(attempt, decision);
}

static void end(struct queue *queue) {
    free(queue->flood);
}

const struct engine_feature flood_guard_feature = {
    .name = "flood guard",
    .judged = judged,
    .resumed = flood_guard_resumed,
    .save = flood_guard_put,
    .load = flood_guard_load,
    .end = end,
};
