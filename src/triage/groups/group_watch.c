/* group_watch: finds new and returned groups, and updates the notes as letters arrive. */
#include <assert.h>

#include "base/log.h"
#include "core/fingerprint.h"
#include "triage/query/audit.h"
#include "triage/groups/group.h"

enum { FAILURE_MAX = 200 };

/* ---- updating notes ---- */

static enum status note_returned(struct triage *triage, const struct group *group,
                                 const struct group_note *note, struct arena *arena,
                                 struct err *err) {
    char name[FINGERPRINT_TEXT_SIZE];
    struct audit_entry entry = {.who = BYTES("impound"),
                                .what = "group.returned",
                                .before = BYTES("{\"state\":\"resolved\"}"),
                                .after = BYTES("{\"state\":\"open\"}")};
    audit_begin(triage, &entry);
    entry.subject = bytes_of(fingerprint_text(group->fingerprint, name));
    struct store_op ops[] = {group_note_op(group->fingerprint, note, arena),
                             audit_op(&entry, arena)};
    return triage_commit(triage, ops, 2, err);
}

static bool add_version(struct group_note *note, struct bytes version) {
    assert(note->version_count <= GROUP_VERSIONS_MAX);
    if (version.len == 0 || note->version_count == GROUP_VERSIONS_MAX)
        return false;
    for (size_t i = 0; i < note->version_count; i++)
        if (bytes_eq(note->versions[i], version))
            return false;
    note->versions[note->version_count++] = version;
    return true;
}

static struct bytes failure_of(const struct envelope *letter, struct arena *arena) {
    struct bytes message = bytes_clip(letter->error_message, FAILURE_MAX);
    bool both = letter->error_type.len > 0 && message.len > 0;
    struct buf text;
    buf_init_heap(&text, letter->error_type.len + FAILURE_MAX + 8);
    buf_printf(&text, "%.*s%s%.*s", BYTES_ARG(letter->error_type), both ? ": " : "",
               BYTES_ARG(message));
    struct bytes copy = arena_dup(arena, buf_view(&text));
    buf_free(&text);
    return copy;
}

/* Also sets *failure to the newest letter's failure. If that cannot be read, or the note cannot be
 * written now, the group is reported all the same. */
static void note_version(struct triage *triage, const struct group *group, struct group_note *note,
                         struct bytes *failure, struct arena *arena) {
    struct store *store = triage->store;
    struct message *held = NULL;
    struct err err;
    enum status status = letters_get_seq(store->letters, group->sample, &held, &err);
    if (status == STATUS_CORRUPT || status == STATUS_IO)
        status = group_sample(store, group, &held, NULL, &err);
    if (status == STATUS_OK)
        *failure = failure_of(&held->envelope, arena);
    if (status == STATUS_OK && add_version(note, held->envelope.version)) {
        struct store_op op = group_note_op(group->fingerprint, note, arena);
        status = triage_commit(triage, &op, 1, &err);
    }
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        log_warn("groups: %s", err.text);
    message_free(held);
}

/* ---- news ---- */

struct watch {
    struct triage *triage;
    struct wall since;
    struct arena *arena;
    struct group_news *news;
    size_t count;
};

static void report(struct watch *watch, const struct group *group, struct bytes failure,
                   bool returned) {
    assert(watch->news);
    watch->news[watch->count++] = (struct group_news){.fingerprint = group->fingerprint,
                                                      .dlq = group->first_dlq,
                                                      .returned = returned,
                                                      .failure = failure};
}

/* Reads the note and updates it, under triage->notes. */
static enum status update_note(struct watch *watch, const struct group *group,
                               struct group_note *note, struct bytes *failure, struct err *err) {
    pthread_mutex_lock(&watch->triage->notes);
    enum status status =
        group_note_get(watch->triage->store, group->fingerprint, watch->arena, note, err);
    if (status == STATUS_OK && group_note_heed(note, group->last_seen))
        status = note_returned(watch->triage, group, note, watch->arena, err);
    if (status == STATUS_OK)
        note_version(watch->triage, group, note, failure, watch->arena);
    pthread_mutex_unlock(&watch->triage->notes);
    return status;
}

static enum status check_group(struct watch *watch, const struct group *group, struct err *err) {
    struct group_note note;
    struct bytes failure = BYTES_NONE;
    enum status status = update_note(watch, group, &note, &failure, err);
    if (status != STATUS_OK)
        return status;
    if (note.returned_at.ms > watch->since.ms)
        report(watch, group, failure, true);
    else if (group->first_seen.ms > watch->since.ms && note.state != GROUP_MUTED)
        report(watch, group, failure, false);
    return STATUS_OK;
}

/* A group without a recent letter is not reported, whatever its note says. */
size_t group_watch(struct triage *triage, int64_t within_ms, struct arena *arena,
                   struct group_news **out) {
    struct group *groups;
    struct watch watch = {.triage = triage, .arena = arena};
    watch.since.ms = triage_now(triage).wall.ms - within_ms;
    size_t count;
    struct err trouble;
    if (group_collect(triage->store, BYTES_NONE, arena, &groups, &count, &trouble) != STATUS_OK)
        log_warn("groups: %s", trouble.text);
    watch.news = arena_alloc(arena, (count + 1) * sizeof *watch.news);
    for (size_t i = 0; i < count; i++) {
        struct err err;
        if (groups[i].last_seen.ms > watch.since.ms &&
            check_group(&watch, &groups[i], &err) != STATUS_OK)
            log_warn("groups: %s", err.text);
    }
    *out = watch.news;
    return watch.count;
}
