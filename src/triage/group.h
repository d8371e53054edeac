/* group: the letters with one fingerprint, in whatever DLQs they are, and what people noted of
 * them.
 *
 * Counts and times come from the store, the rest from the newest letter. Notes are kept by
 * fingerprint, so they outlive the letters, replays and restarts. A resolved group to which a
 * letter comes afterwards is open again, and says when it returned. */
#ifndef TRIAGE_GROUP_H
#define TRIAGE_GROUP_H

#include "triage/triage.h"

enum { GROUP_LIMIT_MAX = 1000, GROUP_NOTE_MAX = 4096, GROUP_VERSIONS_MAX = 16 };

#define GROUP_STATE_LIST(X)    X(OPEN, "open") X(MUTED, "muted") X(RESOLVED, "resolved")
#define GROUP_ENUM(code, text) GROUP_##code,
enum group_state { GROUP_STATE_LIST(GROUP_ENUM) GROUP_STATE_COUNT };

const char *group_state_text(enum group_state state);
bool group_state_parse(struct bytes text, enum group_state *out);
/* "open,muted": a bit each. False: a word is none of them, or there is none. */
bool group_states_parse(struct bytes text, uint32_t *out);

/* What people noted. Zeroed: nothing. */
struct group_note {
    struct bytes note, owner, why, who;
    enum group_state state;
    struct wall changed_at;  /* when the state was last set */
    struct wall returned_at; /* when a resolved group came back; never: it did not */
    struct bytes
        versions[GROUP_VERSIONS_MAX]; /* of the consumer, in the order in which they came */
    size_t version_count;
};

/* A zeroed note when there is none. Lives in the arena. */
enum status group_note_get(struct store *store, uint64_t fingerprint, struct arena *arena,
                           struct group_note *out, struct err *err);
struct store_op group_note_op(uint64_t fingerprint, const struct group_note *note,
                              struct arena *arena);
/* What the note means now that the last letter came at `last_seen`: true when that reopens it. */
bool group_note_heed(struct group_note *note, struct wall last_seen);

/* One fingerprint over all DLQs. */
struct group {
    uint64_t fingerprint;
    const struct bytes *dlqs;
    size_t dlq_count;
    struct bytes first_dlq; /* the one in which it was first seen: whatever comes, it stays this */
    uint64_t count, total;
    struct wall first_seen, last_seen;
    uint64_t sample;
};

/* Of one DLQ or (empty) of all, most letters first. Lives in the arena. */
enum status group_collect(struct store *store, struct bytes dlq, struct arena *arena,
                          struct group **out, size_t *count, struct err *err);

/* The newest letter of a group. When that has left the store, the newest one that waits; when it
 * cannot be read, the newest of which the envelope can be, without its body. Appends the ids of
 * those that cannot be read to *damaged (NULL: they are not asked for), as JSON texts with commas.
 * NOT_FOUND: none is left, or none can be read. Waits. */
enum status group_sample(struct store *store, const struct group *group, struct message **out,
                         struct buf *damaged, struct err *err);

struct group_filter {
    struct bytes dlq;    /* empty: any */
    uint32_t states;     /* a bit per enum group_state; 0: any */
    struct bytes cursor; /* from the page before; empty: the first page */
    size_t limit;
};
/* Appends {"groups":[…],"cursor":…}; there is a cursor when another one matches, and "damaged" when
 * letters of these groups cannot be read. INVALID: the cursor. */
enum status group_list(struct triage *triage, const struct group_filter *filter, struct buf *out,
                       struct err *err);
/* Appends one group. NOT_FOUND. */
enum status group_show(struct triage *triage, uint64_t fingerprint, struct buf *out,
                       struct err *err);

/* What is to change; a text whose ptr is NULL stays, an empty one is taken away. */
struct group_change {
    struct bytes note, owner, why, who;
    bool has_state;
    enum group_state state;
};
/* Audited. NOT_FOUND. Waits. */
enum status group_patch(struct triage *triage, uint64_t fingerprint,
                        const struct group_change *change, struct err *err);

/* What is worth an alert. */
struct group_news {
    uint64_t fingerprint;
    struct bytes dlq;     /* in which the group was first seen, when it is in several */
    bool returned;        /* else it is new */
    struct bytes failure; /* "type: message" of its newest letter; empty when that has left */
};
/* Groups that appeared within the last `within_ms` and are not muted, and resolved ones that came
 * back in that time; what came back is noted, and the versions of the newest letters. Waits. */
size_t group_watch(struct triage *triage, int64_t within_ms, struct arena *arena,
                   struct group_news **out);

/* Appends the YAML of a rule that matches the failures of this group and says `do`: error type and
 * a pattern of the masked message, tried against the sample. NOT_FOUND; INVALID when there is
 * nothing to tell the group by. */
enum status group_rule(struct triage *triage, uint64_t fingerprint, enum verdict verdict,
                       struct buf *out, struct err *err);

#endif
