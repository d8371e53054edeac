#include "store/tables/counters/commit_times.h"

const double store_commit_bounds_seconds[STORE_COMMIT_BUCKETS] = {
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5};

void commit_times_note_commit(struct store_health *health, double seconds) {
    size_t bucket = 0;
    while (bucket < STORE_COMMIT_BUCKETS && seconds > store_commit_bounds_seconds[bucket])
        bucket++;
    health->commit_seconds += seconds;
    health->commit_buckets[bucket]++;
}
