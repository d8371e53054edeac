/* Any bytes as a policy of the library: read, or refused and unchanged; and whatever was read
 * judges a failure without complaint. */
#include "fuzz.h"

#include "impound/impound.h"

static void judge(const struct impound_policy *policy, const char *text) {
    struct impound_attempt attempt = IMPOUND_ATTEMPT_INIT;
    struct impound_decision decision = IMPOUND_DECISION_INIT;
    struct impound_outcome *outcome = impound_outcome_new();
    struct impound_rng rng;
    impound_rng_seed(&rng, 1);
    impound_outcome_fail(outcome, text, text);
    FUZZ_CHECK(impound_decide(policy, outcome, &attempt, &rng, &decision, NULL) == IMPOUND_OK);
    FUZZ_CHECK(decision.action != IMPOUND_ACTION_DONE && decision.delay_ms >= 0);
    FUZZ_CHECK((decision.cause == IMPOUND_CAUSE_NONE) == (decision.dlq[0] == '\0'));
    impound_outcome_free(outcome);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct impound_policy *policy;
    struct impound_error error = {IMPOUND_OK, ""};
    char *text = bytes_dup(fuzz_text(data, size));
    FUZZ_CHECK(impound_policy_new("q", &policy, NULL) == IMPOUND_OK);
    if (impound_policy_read(policy, text, &error) != IMPOUND_OK) {
        FUZZ_CHECK(error.status == IMPOUND_INVALID && error.text[0]);
        FUZZ_CHECK(impound_policy_get(policy, IMPOUND_RETRY_ATTEMPTS) == 5);
    }
    judge(policy, text);
    impound_policy_free(policy);
    free(text);
    return 0;
}
