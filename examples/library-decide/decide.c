/* Judges a table of outcomes with impound's decisions alone: no store, no thread, no clock.
 *
 *   cc decide.c $(pkg-config --cflags --libs impound) -o decide && ./decide
 */
#include <impound/impound.h>
#include <stdio.h>

static const char rules[] =
    "classify:\n"
    "  presets: [http, errors]\n"
    "  rules:\n"
    "    - {when: {status: 404, message: model}, do: dlq, category: model_gone}\n"
    "retry: {attempts: 3, base: 1s, jitter: none}\n";

/* How an attempt ended. */
struct row {
    const char *what;
    uint32_t attempt;
    int status;
    const char *error_type, *error_message;
};

static const struct row table[] = {
    {"a busy server", 1, 503, "", "try later"},
    {"a busy server, again", 2, 503, "", "try later"},
    {"a busy server, for the last time", 3, 503, "", "try later"},
    {"a model that is gone", 1, 404, "NotFound", "no such model: m1"},
    {"a bug", 1, 0, "KeyError", "'price'"},
    {"a timeout", 1, 0, "ReadTimeout", "no answer in 10 s"},
    {"bad credentials", 1, 401, "", "token expired"},
    {"what nobody knows", 1, 0, "Weird", "the moon is blue"},
};

static int judge(const struct impound_policy *policy, struct impound_outcome *outcome,
                 const struct row *row, struct impound_rng *rng) {
    struct impound_attempt attempt = IMPOUND_ATTEMPT_INIT;
    struct impound_decision decision = IMPOUND_DECISION_INIT;
    struct impound_error error;
    attempt.attempt = row->attempt;
    impound_outcome_fail(outcome, row->error_type, row->error_message);
    impound_outcome_set_status(outcome, row->status);
    if (impound_decide(policy, outcome, &attempt, rng, &decision, &error) != IMPOUND_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    printf("%-33s %-6s %-10s %-24s", row->what, impound_action_text(decision.action),
           decision.category, decision.reason);
    if (decision.action == IMPOUND_ACTION_RETRY)
        printf(" in %lld ms", (long long)decision.delay_ms);
    if (decision.action == IMPOUND_ACTION_DEAD)
        printf(" %s, to %s", impound_cause_text(decision.cause), decision.dlq);
    printf("\n");
    return 0;
}

int main(void) {
    struct impound_policy *policy = NULL;
    struct impound_error error;
    if (impound_policy_new("orders", &policy, &error) != IMPOUND_OK ||
        impound_policy_read(policy, rules, &error) != IMPOUND_OK) {
        fprintf(stderr, "%s\n", error.text);
        impound_policy_free(policy);
        return 1;
    }
    struct impound_outcome *outcome = impound_outcome_new();
    struct impound_rng rng;
    int failed = 0;
    impound_rng_seed(&rng, 1);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        failed |= judge(policy, outcome, &table[i], &rng);
    impound_outcome_free(outcome);
    impound_policy_free(policy);
    return failed;
}
