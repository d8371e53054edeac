/* what_if_tally: letters counted by their stored result and their result under the new rules. */
#ifndef APP_WHAT_IF_TALLY_H
#define APP_WHAT_IF_TALLY_H

#include "base/arena.h"
#include "base/json/json.h"
#include "base/containers/list.h"
#include "base/containers/map.h"
#include "cli/cli.h"
#include "core/decide.h"
#include "core/envelope/envelope.h"

enum { WHAT_IF_SAMPLES = 3 };

/* A letter's result, stored or under the new rules. */
struct what_if_fate {
    enum verdict verdict;
    struct bytes category, reason;
    struct bytes dlq; /* empty: it would not be a letter */
};

struct what_if_tally {
    struct arena arena;
    struct map rows;
    struct list order; /* of struct what_if_row, in order of appearance */
    uint64_t letters, changed, no_queue, no_failure;
    uint64_t cut; /* letters that were judged by the stored beginning of their answer */
};

void what_if_tally_init(struct what_if_tally *tally);
void what_if_tally_free(struct what_if_tally *tally);

void what_if_tally_add(struct what_if_tally *tally, const struct envelope *envelope,
                       const struct decision *decision);

/* For display: a table of the changes, with samples of each. */
void what_if_tally_print(const struct what_if_tally *tally, const struct cli_env *env,
                         struct buf *out);
/* {"letters", "changed", "same", "no_queue", "no_failure", "cut", "jq_errors", "changes": […]} */
void what_if_tally_json(const struct what_if_tally *tally, uint64_t jq_errors, struct buf *out);

#endif
