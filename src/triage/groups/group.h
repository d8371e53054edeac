/* group: the letters with one fingerprint, over all DLQs, and people's notes about them.
 *
 * Counts and times come from the store, the rest from the newest letter. Notes are stored by
 * fingerprint, so they outlive the letters, replays and restarts. A resolved group becomes open
 * again when a letter arrives in it, and records when it returned. */
#ifndef TRIAGE_GROUPS_GROUP_H
#define TRIAGE_GROUPS_GROUP_H

#include "triage/triage.h"

enum { GROUP_LIMIT_MAX = 1000, GROUP_NOTE_MAX = 4096, GROUP_VERSIONS_MAX = 16 };

#define GROUP_STATE_LIST(X)    X(OPEN, "open") X(MUTED, "muted") X(RESOLVED, "resolved")
#define GROUP_ENUM(code, text) GROUP_##code,
enum group_state { GROUP_STATE_LIST(GROUP_ENUM) GROUP_STATE_COUNT };

const char *group_state_text(enum group_state state);
bool group_state_parse(struct bytes text, enum group_state *out);
/* "open,muted": a bit each. False: a word is not a state, or there is none. */
bool group_states_parse(struct bytes text, uint32_t *out);

/* A note. Zeroed: empty. */
struct group_note {
    struct bytes note, owner, why, who;
    enum group_state state;
    struct wall changed_at;  /* when the state was last set */
    struct wall returned_at; /* when a resolved group became open again; never: it did not */
    struct bytes versions[GROUP_VERSIONS_MAX]; /* of the consumer, in order of appearance */
    size_t version_count;
};

/* A zeroed note if there is none. Texts are in the arena. */
enum status group_note_get(struct store *store, uint64_t fingerprint, struct arena *arena,
                           struct group_note *out, struct err *err);
struct store_op group_note_op(uint64_t fingerprint, const struct group_note *note,
                              struct arena *arena);
/* Reopens a resolved note if a letter arrived (`last_seen`) after it was resolved; true: it did. */
bool group_note_heed(struct group_note *note, struct wall last_seen);

/* The letters of one fingerprint over all DLQs. */
struct group {
    uint64_t fingerprint;
    const struct bytes *dlqs;
    size_t dlq_count;
    struct bytes first_dlq; /* the DLQ in which it was first seen; it never changes */
    uint64_t count, total;
    struct wall first_seen, last_seen;
    uint64_t sample;
};

/* The groups of one DLQ or (empty) of all, most letters first. In the arena. */
enum status group_collect(struct store *store, struct bytes dlq, struct arena *arena,
                          struct group **out, size_t *count, struct err *err);

/* The newest letter of a group; if it left the store, the newest unresolved one; if it cannot be
 * read, the newest with a readable envelope, without its body. Appends the ids of unreadable
 * letters to *damaged (may be NULL), as JSON strings with commas. NOT_FOUND: no letter is left, or
 * none is readable. Waits for the store. */
enum status group_sample(struct store *store, const struct group *group, struct message **out,
                         struct buf *damaged, struct err *err);

struct group_filter {
    struct bytes dlq;    /* empty: any */
    uint32_t states;     /* a bit per enum group_state; 0: any */
    struct bytes cursor; /* from the page before; empty: the first page */
    size_t limit;
};
/* Appends {"groups":[…],"cursor":…}, with a cursor if there are more, and "damaged" if letters of
 * these groups cannot be read. INVALID: the cursor. */
enum status group_list(struct triage *triage, const struct group_filter *filter, struct buf *out,
                       struct err *err);
/* Appends one group. NOT_FOUND. */
enum status group_show(struct triage *triage, uint64_t fingerprint, struct buf *out,
                       struct err *err);

/* The change; a text with ptr NULL stays, an empty one is removed. */
struct group_change {
    struct bytes note, owner, why, who;
    bool has_state;
    enum group_state state;
};
/* Commits the change with its audit entry. NOT_FOUND. Waits for the store. */
enum status group_patch(struct triage *triage, uint64_t fingerprint,
                        const struct group_change *change, struct err *err);

/* A group that is worth an alert. */
struct group_news {
    uint64_t fingerprint;
    struct bytes dlq;     /* the DLQ in which the group was first seen */
    bool returned;        /* otherwise it is new */
    struct bytes failure; /* "type: message" of its newest letter; empty if that left the store */
};
/* Groups that appeared within the last `within_ms` and are not muted, and resolved groups that
 * returned in that time. Also updates the notes: returned groups become open, and the consumer
 * versions of the newest letters are added. Waits for the store. */
size_t group_watch(struct triage *triage, int64_t within_ms, struct arena *arena,
                   struct group_news **out);

/* Appends the YAML of a rule that matches the failures of this group, with `do: verdict`: error
 * type and a pattern of the masked message, verified against the sample. NOT_FOUND; INVALID: the
 * failures have neither type nor message. */
enum status group_rule(struct triage *triage, uint64_t fingerprint, enum verdict verdict,
                       struct buf *out, struct err *err);

#endif
