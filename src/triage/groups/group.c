/* group: merges the store's groups of each DLQ by fingerprint, lists them, and changes their notes.
 * Notes are changed under triage->notes, so that concurrent changes do not overwrite each other. */
#include "triage/groups/group.h"

#include <assert.h>
#include <stdlib.h>

#include "base/json/json_member.h"
#include "core/fingerprint.h"
#include "triage/groups/arrivals.h"
#include "triage/query/audit.h"

enum {
    GROUP_ARENA_CHUNK = 64 * 1024,
    NOTE_ARENA_CHUNK = 1024,
    CURSOR_SIZE = 32,
    STATE_SIZE = 64,
    DAMAGED_MAX = 4 << 20,
};

/* ---- merging the DLQs ---- */

static int by_fingerprint(const void *a, const void *b) {
    const struct letters_group *left = a, *right = b;
    return left->fingerprint < right->fingerprint ? -1 : left->fingerprint > right->fingerprint;
}

static int most_first(const void *a, const void *b) {
    const struct group *left = a, *right = b;
    if (left->count != right->count)
        return left->count > right->count ? -1 : 1;
    if (left->last_seen.ms != right->last_seen.ms)
        return left->last_seen.ms > right->last_seen.ms ? -1 : 1;
    return left->fingerprint < right->fingerprint ? -1 : left->fingerprint > right->fingerprint;
}

static bool is_earlier(const struct letters_group *part, const struct group *group) {
    if (part->first_seen.ms != group->first_seen.ms)
        return part->first_seen.ms < group->first_seen.ms;
    return bytes_cmp(part->dlq, group->first_dlq) < 0;
}

static void merge(struct group *group, const struct letters_group *part) {
    assert(group->fingerprint == part->fingerprint);
    group->count += part->count;
    group->total += part->total;
    if (group->dlq_count == 0 || is_earlier(part, group)) {
        group->first_seen = part->first_seen;
        group->first_dlq = part->dlq;
    }
    if (part->last_seen.ms >= group->last_seen.ms) {
        group->last_seen = part->last_seen;
        group->sample = part->sample;
    }
    ((struct bytes *)group->dlqs)[group->dlq_count++] = part->dlq;
}

enum status group_collect(struct store *store, struct bytes dlq, struct arena *arena,
                          struct group **out, size_t *group_count, struct err *err) {
    struct letters_group *parts;
    size_t part_count = 0, count = 0;
    enum status status = letters_groups(store->letters, dlq, arena, &parts, &part_count, err);
    struct group *groups = arena_alloc(arena, (part_count + 1) * sizeof *groups);
    struct bytes *names = arena_alloc(arena, (part_count + 1) * sizeof *names);
    if (part_count > 0)
        qsort(parts, part_count, sizeof *parts, by_fingerprint);
    for (size_t i = 0; i < part_count; i++) {
        if (i == 0 || parts[i].fingerprint != parts[i - 1].fingerprint)
            groups[count++] =
                (struct group){.fingerprint = parts[i].fingerprint, .dlqs = &names[i]};
        merge(&groups[count - 1], &parts[i]);
    }
    if (count > 0)
        qsort(groups, count, sizeof *groups, most_first);
    *out = groups;
    *group_count = count;
    return status;
}

static enum status find(struct triage *triage, uint64_t fingerprint, struct arena *arena,
                        struct group *out, struct err *err) {
    char text[FINGERPRINT_TEXT_SIZE];
    struct group *groups;
    size_t count;
    enum status status = group_collect(triage->store, BYTES_NONE, arena, &groups, &count, err);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        if (groups[i].fingerprint == fingerprint) {
            *out = groups[i];
            return STATUS_OK;
        }
    return err_set(err, STATUS_NOT_FOUND, "group %s does not exist",
                   fingerprint_text(fingerprint, text));
}

/* ---- as JSON ---- */

/* Nulls if no letter is left, or none can be read. */
static void put_sample(struct json_out *json, const struct envelope *sample) {
    static const struct envelope none;
    const struct envelope *from = sample ? sample : &none;
    json_member_text(json, "category", from->category);
    json_member_text(json, "reason", from->reason);
    json_member_text(json, "error_type", from->error_type);
    json_member_text(json, "error_message", from->error_message);
    json_member_text(json, "rule", from->rule);
    json_member_text(json, "sample", from->letter_id);
}

static void put_versions(struct json_out *json, const struct group_note *note,
                         const struct envelope *sample) {
    struct bytes versions[GROUP_VERSIONS_MAX + 1];
    size_t count = 0;
    bool known = !sample || sample->version.len == 0;
    for (; count < note->version_count; count++) {
        versions[count] = note->versions[count];
        known |= sample && bytes_eq(versions[count], sample->version);
    }
    if (!known)
        versions[count++] = sample->version;
    json_member_names(json, "versions", versions, count);
}

static void put_arrivals(struct json_out *json, struct arrivals *arrivals,
                         const struct group *group) {
    uint64_t hours[ARRIVALS_GROUP_HOURS] = {0};
    for (size_t i = 0; arrivals && i < group->dlq_count; i++)
        arrivals_of_group(arrivals, group->dlqs[i], group->fingerprint, hours);
    json_key(json, "arrivals");
    json_open(json, '[');
    for (size_t i = 0; i < ARRIVALS_GROUP_HOURS; i++)
        json_put_i64(json, (int64_t)hours[i]);
    json_close(json, ']');
}

/* `damaged` is a list of JSON strings without brackets; the member is left out if it is empty. */
static void put_damaged(struct json_out *json, const struct buf *damaged) {
    if (!damaged || damaged->len == 0)
        return;
    json_key(json, "damaged");
    json_open(json, '[');
    buf_bytes(json->buf, buf_view(damaged));
    json_close(json, ']');
}

static void put_group(struct json_out *json, struct arrivals *arrivals, const struct group *group,
                      const struct group_note *note, const struct envelope *sample,
                      const struct buf *damaged) {
    char text[FINGERPRINT_TEXT_SIZE];
    json_open(json, '{');
    json_member_text(json, "fingerprint", bytes_of(fingerprint_text(group->fingerprint, text)));
    json_member_names(json, "dlqs", group->dlqs, group->dlq_count);
    json_member_number(json, "count", group->count);
    json_member_number(json, "total", group->total);
    json_member_time(json, "first_seen", group->first_seen);
    json_member_time(json, "last_seen", group->last_seen);
    put_sample(json, sample);
    put_versions(json, note, sample);
    json_member_text(json, "state", bytes_of(group_state_text(note->state)));
    json_member_text(json, "note", note->note);
    json_member_text(json, "owner", note->owner);
    json_member_text(json, "why", note->why);
    json_member_time(json, "changed_at", note->changed_at);
    json_member_time(json, "returned_at", note->returned_at);
    put_arrivals(json, arrivals, group);
    put_damaged(json, damaged);
    json_close(json, '}');
}

/* The note of a group, reopened if a letter arrived after the group was resolved. */
static enum status current_note(struct store *store, const struct group *group, struct arena *arena,
                                struct group_note *out, struct err *err) {
    enum status status = group_note_get(store, group->fingerprint, arena, out, err);
    if (status == STATUS_OK)
        group_note_heed(out, group->last_seen);
    return status;
}

/* Appends the ids of unreadable letters to *damaged; with `inside` they are shown in the group,
 * too. */
static enum status put_one(struct triage *triage, const struct group *group, struct json_out *json,
                           struct buf *damaged, bool inside, struct err *err) {
    struct store *store = triage->store;
    struct message *held = NULL;
    struct group_note note;
    struct arena arena;
    arena_init_heap(&arena, GROUP_ARENA_CHUNK);
    enum status status = current_note(store, group, &arena, &note, err);
    if (status == STATUS_OK)
        status = group_sample(store, group, &held, damaged, err);
    if (status == STATUS_OK || status == STATUS_NOT_FOUND) {
        put_group(json, triage->arrivals, group, &note, held ? &held->envelope : NULL,
                  inside ? damaged : NULL);
        status = STATUS_OK;
    }
    message_free(held);
    arena_free(&arena);
    return status;
}

/* ---- a page ---- */

struct group_page {
    struct triage *triage;
    const struct group_filter *filter;
    const struct group *groups;
    size_t count;
    size_t at; /* index of the next group */
    struct err *err;
    struct buf damaged; /* ids of unreadable letters, as JSON strings with commas */
};

static enum status is_wanted(struct group_page *listed, bool *wanted) {
    struct group_note note;
    struct arena arena;
    arena_init_heap(&arena, NOTE_ARENA_CHUNK);
    enum status status = current_note(listed->triage->store, &listed->groups[listed->at], &arena,
                                      &note, listed->err);
    *wanted = status == STATUS_OK && (listed->filter->states >> note.state & 1u);
    arena_free(&arena);
    return status;
}

/* Advances to the next group in a wanted state, or to the end. */
static enum status find_next(struct group_page *listed) {
    enum status status = STATUS_OK;
    bool found = listed->filter->states == 0;
    while (status == STATUS_OK && !found && listed->at < listed->count) {
        status = is_wanted(listed, &found);
        listed->at += !found;
    }
    return status;
}

/* The cursor is a position in the list of all groups; groups move in it as letters arrive and
 * leave. */
static void put_cursor(struct json_out *json, const struct group_page *listed) {
    char text[CURSOR_SIZE];
    struct buf cursor;
    buf_init_fixed(&cursor, text, sizeof text);
    buf_printf(&cursor, "%zu", listed->at);
    json_member_text(json, "cursor", listed->at < listed->count ? buf_view(&cursor) : BYTES_NONE);
}

static enum status put_page(struct group_page *listed, struct buf *out) {
    assert(listed->at <= listed->count);
    struct json_out json = json_out(out);
    json_open(&json, '{');
    json_key(&json, "groups");
    json_open(&json, '[');
    enum status status = find_next(listed);
    for (size_t put = 0; status == STATUS_OK && put < listed->filter->limit; put++) {
        if (listed->at == listed->count)
            break;
        status = put_one(listed->triage, &listed->groups[listed->at++], &json, &listed->damaged,
                         false, listed->err);
        if (status == STATUS_OK)
            status = find_next(listed);
    }
    json_close(&json, ']');
    put_cursor(&json, listed);
    put_damaged(&json, &listed->damaged);
    json_close(&json, '}');
    return status;
}

enum status group_list(struct triage *triage, const struct group_filter *filter, struct buf *out,
                       struct err *err) {
    struct arena arena;
    struct group *groups;
    uint64_t from = 0;
    if (filter->cursor.len > 0 && !bytes_u64(filter->cursor, &from))
        return err_set(err, STATUS_INVALID, "cursor: not a cursor of a previous page");
    if (triage->arrivals)
        arrivals_read(triage->arrivals);
    arena_init_heap(&arena, GROUP_ARENA_CHUNK);
    size_t count;
    enum status status = group_collect(triage->store, filter->dlq, &arena, &groups, &count, err);
    struct group_page listed = {.triage = triage,
                                .filter = filter,
                                .groups = groups,
                                .count = count,
                                .at = from < count ? (size_t)from : count,
                                .err = err};
    buf_init_heap(&listed.damaged, DAMAGED_MAX);
    if (status == STATUS_OK)
        status = put_page(&listed, out);
    buf_free(&listed.damaged);
    arena_free(&arena);
    return status;
}

enum status group_show(struct triage *triage, uint64_t fingerprint, struct buf *out,
                       struct err *err) {
    struct arena arena;
    struct group group;
    struct json_out json = json_out(out);
    struct buf damaged;
    arena_init_heap(&arena, GROUP_ARENA_CHUNK);
    buf_init_heap(&damaged, DAMAGED_MAX);
    enum status status = find(triage, fingerprint, &arena, &group, err);
    if (status == STATUS_OK)
        status = put_one(triage, &group, &json, &damaged, true, err);
    buf_free(&damaged);
    arena_free(&arena);
    return status;
}

/* ---- changing ---- */

static void set_text(struct bytes *into, struct bytes text) {
    if (text.ptr)
        *into = text;
}

/* {"state","note","owner"} */
static struct bytes note_json(const struct group_note *note, struct arena *arena) {
    struct buf text;
    buf_init_heap(&text, 4 * GROUP_NOTE_MAX + STATE_SIZE);
    struct json_out json = json_out(&text);
    json_open(&json, '{');
    json_member_text(&json, "state", bytes_of(group_state_text(note->state)));
    json_member_text(&json, "note", note->note);
    json_member_text(&json, "owner", note->owner);
    json_close(&json, '}');
    struct bytes copy = arena_dup(arena, buf_view(&text));
    buf_free(&text);
    return copy;
}

static void apply(const struct group_change *change, struct wall now, struct group_note *note) {
    set_text(&note->note, change->note);
    set_text(&note->owner, change->owner);
    note->who = change->who;
    if (!change->has_state)
        return;
    note->state = change->state;
    note->why = change->why;
    note->changed_at = now;
    note->returned_at = WALL_NEVER;
}

static enum status save(struct triage *triage, const struct group *group, struct group_note *note,
                        const struct group_change *change, struct arena *arena, struct err *err) {
    assert(group->dlq_count > 0);
    char name[FINGERPRINT_TEXT_SIZE];
    struct audit_entry entry = {.who = change->who, .what = "group", .why = change->why};
    audit_begin(triage, &entry);
    entry.subject = bytes_of(fingerprint_text(group->fingerprint, name));
    group_note_heed(note, group->last_seen);
    entry.before = note_json(note, arena);
    apply(change, entry.at, note);
    entry.after = note_json(note, arena);
    struct store_op ops[] = {group_note_op(group->fingerprint, note, arena),
                             audit_op(&entry, arena)};
    return triage_commit(triage, ops, 2, err);
}

enum status group_patch(struct triage *triage, uint64_t fingerprint,
                        const struct group_change *change, struct err *err) {
    struct arena arena;
    struct group group = {0};
    struct group_note note;
    arena_init_heap(&arena, GROUP_ARENA_CHUNK);
    enum status status = find(triage, fingerprint, &arena, &group, err);
    pthread_mutex_lock(&triage->notes);
    if (status == STATUS_OK)
        status = group_note_get(triage->store, fingerprint, &arena, &note, err);
    if (status == STATUS_OK)
        status = save(triage, &group, &note, change, &arena, err);
    pthread_mutex_unlock(&triage->notes);
    arena_free(&arena);
    return status;
}
