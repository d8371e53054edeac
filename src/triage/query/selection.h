/* selection: the letters of a bulk action: a filter, ids, or all. Every action uses it, so that a
 * dry run, a replay, a discard and an export select the same letters.
 *
 * Letters are visited newest first (or oldest first with a limit), a page at a time, so that memory
 * does not grow with their number. Letters that arrive meanwhile are newer than all of them and are
 * not visited. */
#ifndef TRIAGE_QUERY_SELECTION_H
#define TRIAGE_QUERY_SELECTION_H

#include "triage/query/query.h"
#include "triage/triage.h"

enum {
    SELECTION_IDS_MAX = 100000,
    SELECTION_WHERE_MS = 30 * 1000 /* time limit of a `where` given by a person */
};

struct selection {
    struct query query;
    bool filtered; /* a filter word was given */
    bool all;      /* every letter, without a filter */
    bool reading;  /* read-only use: letters in any state can be selected, and with `all` are */
    bool by_rule;  /* for a triage rule: it is no error if all letters are read-only */
    const struct bytes *ids;
    size_t id_count;      /* > 0: these ids, without a filter */
    bool as_given;        /* visited in the order of the ids, which are unique */
    uint64_t limit;       /* maximum; 0: none */
    bool has_limit;       /* it was given, even as 0 */
    bool has_order;       /* an order for the limit was given */
    bool newest;          /* the limit selects the newest; otherwise the oldest */
    bool behind_oldest;   /* continues a walk that went oldest first */
    bool in_parts;        /* a `where` that runs out of time returns a cursor instead of an error */
    size_t page_max;      /* maximum of pages listed; 0: none */
    struct bytes as_json; /* the filter, {"ids":[…]} or {"all":true}, for the audit log */
};

void selection_init(struct selection *selection);
/* Sets one filter word, as query_set does; limit and cursor are not filter words. */
enum status selection_set(struct selection *selection, struct bytes name, struct bytes value,
                          struct wall now, struct arena *arena, struct err *err);
/* Call after the last word. INVALID: no filter and `all` is not set; ids together with a filter;
 * only states in which letters cannot be changed. */
enum status selection_finish(struct selection *selection, struct err *err);

/* Whether letters are visited oldest first: if a limit selects the oldest, and after its cursor. */
bool selection_oldest_first(const struct selection *selection);
/* Continues after the cursor of an earlier result. */
void selection_set_cursor(struct selection *selection, struct bytes cursor);

/* A visited letter; borrowed for the visit. */
struct selection_letter {
    uint64_t seq;
    const struct envelope *envelope;
};

struct selection_result {
    uint64_t visited;
    /* With a filter: just after the death (or the arrival, if not dead) of the newest visited
     * letter, or now. The same filter with this `until` selects the same letters and none that
     * arrived since. */
    struct wall until;
    struct bytes cursor;      /* after the last visited, in the arena; ptr NULL: no more */
    uint64_t behind;          /* committed changes that the list did not show yet */
    uint64_t read_only;       /* read-only letters: not visited, unless `reading` */
    uint64_t damaged;         /* unreadable letters: not visited */
    uint64_t skipped;         /* letters for which the `where` failed … */
    struct err first_skipped; /* … and the first error */
};

/* False: stop. */
typedef bool selection_visit(void *arg, const struct selection_letter *letter);

/* Visits letters in pending_review and replaying, or in any state if `reading`. INVALID: a `where`
 * took longer than SELECTION_WHERE_MS, unless `in_parts`. With ids: NOT_FOUND names one that is not
 * held; CONFLICT one that is not a letter, is read-only, or is resolved or discarded; then nothing
 * was visited. CONFLICT also if all letters that a filter selects are read-only, unless it
 * continues after a cursor. May wait for the store. */
enum status selection_walk(struct triage *triage, const struct selection *selection,
                           selection_visit *visit, void *arg, struct arena *arena,
                           struct selection_result *result, struct err *err);

#endif
