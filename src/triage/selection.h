/* selection: which letters a bulk action is about. A filter, the ids themselves, or all; the same
 * for every action, so that a dry run, a replay, a discard and an export agree.
 *
 * Letters are visited newest first, a page at a time, so memory does not grow with their number.
 * What arrives while they are visited is newer than all of them and is never visited. */
#ifndef TRIAGE_SELECTION_H
#define TRIAGE_SELECTION_H

#include "triage/query.h"
#include "triage/triage.h"

enum {
    SELECTION_IDS_MAX = 100000,
    SELECTION_WHERE_MS = 30 * 1000 /* for which a `where` is run over what people chose */
};

struct selection {
    struct query query;
    bool filtered; /* some word narrows it down */
    bool all;      /* that none does is meant */
    bool reading;  /* nothing is decided: letters in any state can be chosen, and with `all` are */
    bool by_rule; /* nobody asked for these letters: that none can be decided about is no trouble */
    const struct bytes *ids;
    size_t id_count;      /* > 0: these, and no filter */
    bool as_given;        /* visited in the order of the ids, of which none is given twice */
    uint64_t limit;       /* at most so many; 0: all of them */
    bool has_limit;       /* it was given, be it as 0 */
    bool has_order;       /* which of them a limit takes was said */
    bool newest;          /* a limit takes the newest; otherwise the oldest */
    bool behind_oldest;   /* its cursor is of a walk that went oldest first: so does this one */
    bool in_parts;        /* what a `where` does not come to in time is left to the cursor */
    size_t page_max;      /* pages of the list that are looked through; 0: all of them */
    struct bytes as_json; /* the filter, {"ids":[…]} or {"all":true}: for the record */
};

void selection_init(struct selection *selection);
/* One word of a filter, as in query_set; limit and cursor are no words of a filter. */
enum status selection_set(struct selection *selection, struct bytes name, struct bytes value,
                          struct wall now, struct arena *arena, struct err *err);
/* After the last word. INVALID: nothing narrows it down and `all` is not set; ids and a filter;
 * states that nothing can be decided in. */
enum status selection_finish(struct selection *selection, struct err *err);

/* Whether letters are visited oldest first: where a limit takes the oldest, and behind its cursor.
 */
bool selection_oldest_first(const struct selection *selection);
/* Goes on behind the cursor of an earlier result. */
void selection_set_cursor(struct selection *selection, struct bytes cursor);

/* One letter; borrowed for the visit. */
struct selection_letter {
    uint64_t seq;
    const struct envelope *envelope;
};

struct selection_result {
    uint64_t visited;
    /* By a filter: behind the death (of a message that is not dead, the arrival) of the newest
     * that was visited, or of now. The same filter with
     * this `until` chooses these, and nothing that came since. */
    struct wall until;
    struct bytes cursor; /* behind the last visited, in the arena; ptr NULL: there are no more */
    uint64_t behind;     /* changes that the list did not show yet */
    uint64_t read_only;  /* letters that nobody may decide about: not visited, unless `reading` */
    uint64_t damaged;    /* letters that cannot be read: not visited */
    uint64_t skipped;    /* letters on which the `where` failed … */
    struct err first_skipped; /* … and how the first did */
};

/* False: enough. */
typedef bool selection_visit(void *arg, const struct selection_letter *letter);

/* Visits letters in pending_review and replaying, unless it is only `reading`. INVALID when a
 * `where` takes longer than SELECTION_WHERE_MS, unless it goes `in_parts`. With ids: NOT_FOUND
 * names one that is not held, CONFLICT one that is no letter, is read-only, or is resolved or
 * discarded; then nothing was visited. CONFLICT also when all that a filter chooses are read-only,
 * unless it goes on behind a cursor. May wait. */
enum status selection_walk(struct triage *triage, const struct selection *selection,
                           selection_visit *visit, void *arg, struct arena *arena,
                           struct selection_result *result, struct err *err);

#endif
