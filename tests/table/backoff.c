/* Drives backoff_delay_ms from backoff.txt. Wanted: FROM..TO, the least and the most over many
 * seeds. A jittered range must be used up to a twentieth of its width at either end, else the ends
 * that were seen are shown. */
#include "table.h"

#include "base/instant.h"
#include "core/backoff.h"

enum { SEEDS = 2000, EDGE = 20 };

struct request {
    struct retry_policy retry;
    uint32_t attempt;
    int64_t previous_ms, retry_after_ms;
};

static const struct {
    const char *text;
    enum jitter jitter;
} jitters[] = {{"full", JITTER_FULL},
               {"equal", JITTER_EQUAL},
               {"decorrelated", JITTER_DECORRELATED},
               {"none", JITTER_NONE}};

static bool set_shape(struct request *r, struct bytes key) {
    for (size_t i = 0; i < sizeof jitters / sizeof jitters[0]; i++)
        if (bytes_is(key, jitters[i].text)) {
            r->retry.jitter = jitters[i].jitter;
            return true;
        }
    if (bytes_is(key, "fixed"))
        r->retry.shape = BACKOFF_FIXED;
    return bytes_is(key, "fixed");
}

static void set_delays(struct request *r, struct bytes value) {
    r->retry.shape = BACKOFF_LIST;
    for (struct bytes one; value.len;) {
        table_split(value, ',', &one, &value);
        r->retry.delays_ms[r->retry.delay_count++] = table_duration(one);
    }
}

static void set(struct request *r, struct bytes key, struct bytes value) {
    if (set_shape(r, key))
        return;
    if (bytes_is(key, "attempt"))
        r->attempt = (uint32_t)table_number(value);
    else if (bytes_is(key, "base"))
        r->retry.base_ms = table_duration(value);
    else if (bytes_is(key, "cap"))
        r->retry.cap_ms = table_duration(value);
    else if (bytes_is(key, "previous"))
        r->previous_ms = table_duration(value);
    else if (bytes_is(key, "retry_after"))
        r->retry_after_ms = table_duration(value);
    else if (bytes_is(key, "retry_after_cap"))
        r->retry.retry_after_cap_ms = table_duration(value);
    else if (bytes_is(key, "delays"))
        set_delays(r, value);
    else
        table_bad("a key", key);
}

static void read_request(struct request *r, struct bytes given) {
    struct policy policy;
    policy_init(&policy, BYTES("q"), BYTES("q.dlq"), HANDLER_HTTP);
    *r = (struct request){.retry = policy.retry, .attempt = 1, .retry_after_ms = -1};
    struct bytes key, value;
    while (table_word(&given, &key, &value))
        set(r, key, value);
}

static void measure(const struct request *r, int64_t *least, int64_t *most) {
    *least = INT64_MAX;
    *most = INT64_MIN;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct rng rng;
        rng_seed(&rng, seed);
        int64_t delay =
            backoff_delay_ms(&r->retry, r->attempt, r->previous_ms, r->retry_after_ms, &rng);
        *least = delay < *least ? delay : *least;
        *most = delay > *most ? delay : *most;
    }
}

static void answer(const struct table_case *c, struct buf *actual) {
    struct request r;
    read_request(&r, c->given);
    int64_t least, most;
    measure(&r, &least, &most);
    struct bytes rest = c->wanted, range, none, from, to;
    table_word(&rest, &range, &none);
    table_split(range, '.', &from, &to);
    int64_t low = table_duration(from);
    int64_t high = table_duration(bytes_cut(to, 1, to.len));
    int64_t edge = (high - low) / EDGE;
    if (least >= low && least <= low + edge && most <= high && most >= high - edge)
        buf_bytes(actual, range);
    else
        buf_printf(actual, "%lldms..%lldms", (long long)least, (long long)most);
}

int main(int argc, char **argv) {
    return argc == 2 ? table_run(argv[1], 25, answer) : 2;
}
