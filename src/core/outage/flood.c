/* flood: rings of counters. See the picture in the header. */
#include "core/outage/flood.h"

#include <string.h>

enum {
    MINUTE_MS = 60 * 1000,
    PERMILLE = 1000,
    FIRST_PLACE = 1 << 30, /* offset that keeps places positive */
};

static int64_t place_of(struct mono now, int64_t width_ms) {
    return now.ms / width_ms + FIRST_PLACE;
}

void flood_policy_init(struct flood_policy *policy) {
    *policy = (struct flood_policy){.share_permille = FLOOD_SHARE_PERMILLE,
                                    .of = FLOOD_OF,
                                    .window_ms = FLOOD_WINDOW_MS,
                                    .then = FLOOD_ALERT};
}

/* ---- counting ---- */

static void clear(uint32_t *ring, size_t size, int64_t from, int64_t to) {
    if (to - from >= (int64_t)size)
        from = to - (int64_t)size;
    for (int64_t at = from + 1; at <= to; at++)
        ring[(uint64_t)at % size] = 0;
}

static void clear_counts(struct flood *flood, struct flood_counts *counts, int64_t slot,
                         int64_t minute) {
    clear(counts->slots, FLOOD_SLOTS, flood->slot, slot);
    clear(counts->minutes, FLOOD_MINUTES, flood->minute, minute);
}

/* Clears slots and minutes that are older than the rings; a changed window length clears all slots.
 */
static void advance(struct flood *flood, int64_t window_ms, struct mono now) {
    int64_t slot_ms = window_ms / FLOOD_SLOTS > 0 ? window_ms / FLOOD_SLOTS : 1;
    int64_t minute = place_of(now, MINUTE_MS), slot = place_of(now, slot_ms);
    if (!flood->begun)
        flood->minute = minute;
    if (slot_ms != flood->slot_ms) {
        flood->slot_ms = slot_ms;
        flood->slot = slot - FLOOD_SLOTS;
    }
    flood->begun = true;
    if (slot == flood->slot && minute == flood->minute)
        return;
    clear_counts(flood, &flood->first, slot, minute);
    for (size_t i = 0; i < FLOOD_GROUPS; i++)
        if (flood->groups[i].used)
            clear_counts(flood, &flood->groups[i].dead, slot, minute);
    flood->slot = slot;
    flood->minute = minute;
}

static void count(struct flood *flood, struct flood_counts *counts) {
    counts->slots[(uint64_t)flood->slot % FLOOD_SLOTS]++;
    counts->minutes[(uint64_t)flood->minute % FLOOD_MINUTES]++;
}

static uint64_t in_window(const struct flood_counts *counts) {
    uint64_t sum = 0;
    for (size_t i = 0; i < FLOOD_SLOTS; i++)
        sum += counts->slots[i];
    return sum;
}

/* Sum over the hour before the window, in whole minutes. */
static uint64_t in_hour_before(const struct flood *flood, const struct flood_counts *counts,
                               int64_t window_ms, struct mono now) {
    uint64_t sum = 0;
    size_t skip = (size_t)((window_ms + MINUTE_MS - 1) / MINUTE_MS);
    for (size_t ago = skip + 1; ago <= skip + FLOOD_HOUR && ago < FLOOD_MINUTES; ago++)
        sum += flood_minute(flood, counts, now, ago);
    return sum;
}

static uint64_t weight(const struct flood_group *group) {
    uint64_t sum = in_window(&group->dead);
    for (size_t i = 0; i < FLOOD_MINUTES; i++)
        sum += group->dead.minutes[i];
    return sum;
}

static struct flood_group *known_group(struct flood *flood, uint64_t fingerprint) {
    for (size_t i = 0; i < FLOOD_GROUPS; i++)
        if (flood->groups[i].used && flood->groups[i].fingerprint == fingerprint)
            return &flood->groups[i];
    return NULL;
}

/* If all places are taken, the group with the lowest count is replaced. */
static struct flood_group *group_of(struct flood *flood, uint64_t fingerprint) {
    struct flood_group *known = known_group(flood, fingerprint), *least = &flood->groups[0];
    if (known)
        return known;
    for (size_t i = 1; i < FLOOD_GROUPS; i++) {
        struct flood_group *group = &flood->groups[i];
        if (least->used && (!group->used || weight(group) < weight(least)))
            least = group;
    }
    *least = (struct flood_group){.fingerprint = fingerprint, .used = true};
    return least;
}

/* ---- judging ---- */

static void keep_version(char out[FLOOD_VERSION_MAX], struct bytes version) {
    version = bytes_clip(version, FLOOD_VERSION_MAX - 1);
    memset(out, 0, FLOOD_VERSION_MAX);
    if (version.len > 0)
        memcpy(out, version.ptr, version.len);
}

static bool is_version(const char *kept, struct bytes version) {
    return bytes_eq(bytes_of(kept), bytes_clip(version, FLOOD_VERSION_MAX - 1));
}

/* An unknown version is not a change. */
static void end_pass(struct flood *flood, struct mono now, struct bytes version) {
    bool changed = version.len > 0 && !is_version(flood->pass_version, version);
    if (flood->passes && (changed || now.ms >= flood->pass_until.ms))
        flood->passes = false;
}

static bool has_share(const struct flood_policy *policy, uint64_t dead, uint64_t first) {
    return dead > 0 && dead * PERMILLE >= first * policy->share_permille;
}

static bool was_usual(const struct flood *flood, const struct flood_policy *policy,
                      const struct flood_group *group, struct mono now) {
    uint64_t first = in_hour_before(flood, &flood->first, policy->window_ms, now);
    uint64_t dead = in_hour_before(flood, &group->dead, policy->window_ms, now);
    return first >= policy->of && dead * PERMILLE >= first * FLOOD_BEFORE_PERMILLE;
}

static bool begins(struct flood *flood, const struct flood_policy *policy,
                   const struct flood_group *group, struct mono now) {
    uint64_t first = in_window(&flood->first), dead = in_window(&group->dead);
    return first >= policy->of && has_share(policy, dead, first) &&
           !was_usual(flood, policy, group, now);
}

static void count_flood(struct flood *flood) {
    const struct flood_group *group = known_group(flood, flood->fingerprint);
    flood->of = (uint32_t)in_window(&flood->first);
    flood->dead = group ? (uint32_t)in_window(&group->dead) : 0;
}

bool flood_count(struct flood *flood, const struct flood_policy *policy, struct mono now,
                 const struct flood_note *note) {
    advance(flood, policy->window_ms, now);
    end_pass(flood, now, note->version);
    count(flood, &flood->first);
    if (!note->dead)
        return false;
    struct flood_group *group = group_of(flood, note->fingerprint);
    count(flood, &group->dead);
    bool passes = flood->passes && flood->pass_fingerprint == note->fingerprint;
    if (policy->then == FLOOD_OFF || flood->on || passes || !begins(flood, policy, group, now))
        return false;
    flood->on = true;
    flood->fingerprint = note->fingerprint;
    keep_version(flood->version, note->version);
    count_flood(flood);
    return true;
}

bool flood_lasts(struct flood *flood, const struct flood_policy *policy, struct mono now,
                 bool held) {
    if (!flood->on || held)
        return flood->on;
    advance(flood, policy->window_ms, now);
    count_flood(flood);
    flood->on = policy->then != FLOOD_OFF && has_share(policy, flood->dead, flood->of);
    return flood->on;
}

void flood_resume(struct flood *flood, struct mono now) {
    if (!flood->on)
        return;
    flood->passes = true;
    flood->pass_fingerprint = flood->fingerprint;
    memcpy(flood->pass_version, flood->version, sizeof flood->pass_version);
    flood->pass_until = mono_after(now, FLOOD_PASS_MS);
    flood->on = false;
}

/* ---- over a restart ---- */

uint32_t flood_minute(const struct flood *flood, const struct flood_counts *counts, struct mono now,
                      size_t ago) {
    int64_t minute = place_of(now, MINUTE_MS) - (int64_t)ago;
    bool kept = minute <= flood->minute && minute > flood->minute - FLOOD_MINUTES;
    return kept ? counts->minutes[(uint64_t)minute % FLOOD_MINUTES] : 0;
}

static void set_minute(struct flood *flood, struct mono now, struct flood_counts *counts,
                       size_t ago, uint32_t number) {
    if (!flood->begun) {
        flood->minute = place_of(now, MINUTE_MS);
        flood->begun = true;
    }
    if (ago < FLOOD_MINUTES)
        counts->minutes[(uint64_t)(flood->minute - (int64_t)ago) % FLOOD_MINUTES] = number;
}

void flood_restore_first(struct flood *flood, struct mono now, size_t ago, uint32_t number) {
    set_minute(flood, now, &flood->first, ago, number);
}

void flood_restore_dead(struct flood *flood, struct mono now, uint64_t fingerprint, size_t ago,
                        uint32_t number) {
    set_minute(flood, now, &group_of(flood, fingerprint)->dead, ago, number);
}
