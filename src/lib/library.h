/* library: declarations shared by the files that implement include/impound/impound.h. That header
 * has the contract. */
#ifndef LIB_LIBRARY_H
#define LIB_LIBRARY_H

#include "base/buf.h"
#include "base/rng.h"
#include "base/status.h"
#include "core/policy.h"
#include "impound/impound.h"

/* The outcome's texts point into the arrays. */
struct impound_outcome {
    struct outcome outcome;
    char error_type[OUTCOME_TYPE_MAX];
    char error_message[OUTCOME_MESSAGE_MAX];
    char stack_trace[OUTCOME_STACK_MAX];
    char reason[OUTCOME_TYPE_MAX];
    char version[OUTCOME_TYPE_MAX];
};

/* The policy inside, for budget and breaker. */
const struct policy *library_policy(const struct impound_policy *policy);
/* Finds the policy's own rules whose pattern matches this message. */
void library_policy_facts(const struct impound_policy *policy, const struct outcome *outcome,
                          struct rule_facts *facts);

/* Copies *err to `error`, if that is not NULL, and returns the public status. */
enum impound_status library_error(struct impound_error *error, const struct err *err);
__attribute__((format(printf, 3, 4))) enum impound_status
library_fail(struct impound_error *error, enum status status, const char *format, ...);
/* Copies as many mistakes as fit, one per line. */
enum impound_status library_mistakes(struct impound_error *error, enum status status,
                                     struct buf *mistakes);

/* Copies as much as fits, and a NUL. */
void library_text(char *to, size_t size, struct bytes text);
/* Fills the caller's struct up to its `size`. */
void library_give(void *to, size_t to_size, void *from, size_t from_size);

#endif
