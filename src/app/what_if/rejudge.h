/* rejudge: judges a stored letter under other rules. The judgement is core's own (classify and
 * decide), over the failure that is stored in the letter; nothing is changed. */
#ifndef APP_REJUDGE_H
#define APP_REJUDGE_H

#include "config/config.h"
#include "core/decide.h"
#include "port/jq.h"

struct rejudge;

/* The whole envelope of a letter as JSON with its body, for rules with a jq program; lives until
 * the next call. */
typedef enum status rejudge_fetch(void *arg, struct bytes letter_id, struct bytes queue,
                                  struct bytes *json, struct err *err);

/* Borrows the configuration. INVALID: a pattern does not compile. */
enum status rejudge_new(const struct config *config, rejudge_fetch *fetch, void *arg,
                        struct rejudge **out, struct err *err);
void rejudge_free(struct rejudge *rejudge); /* NULL-safe */

enum rejudge_kind {
    REJUDGED,
    REJUDGE_NO_QUEUE,   /* the configuration has no such queue */
    REJUDGE_NO_FAILURE, /* it did not die of a failure that rules judge */
};

/* The decision on the letter's last attempt, as if it had just ended. *out is set with REJUDGED and
 * borrows from the configuration and the envelope. */
enum status rejudge_letter(struct rejudge *rejudge, const struct envelope *envelope,
                           enum rejudge_kind *kind, struct decision *out, struct err *err);
/* Number of jq failures; a rule whose jq failed on a letter did not match. */
uint64_t rejudge_jq_errors(const struct rejudge *rejudge);

#endif
