/* sim: runs worlds.
 *
 *   sim --seeds N [--from S]     N seeds from S on (1); stops at the first broken promise
 *   sim --seed S                 one seed, told step by step: it replays exactly
 *   sim --seconds T [--from S]   as many seeds as fit
 *   sim … --sabotage HOW         with a promise broken on purpose; succeeds when the breach is seen
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "world.h"

enum { STEPS_MIN = 60, STEPS_SPREAD = 260 };

struct options {
    uint64_t from, seeds;
    int64_t seconds;
    bool one;
    enum sabotage sabotage;
};

/* True when every promise was kept. */
static bool run_seed(uint64_t seed, const struct options *options) {
    struct world *world = world_new(seed, options->sabotage, options->one);
    uint64_t steps = STEPS_MIN + rng_below(&world->rng, STEPS_SPREAD);
    for (uint64_t i = 0; i < steps && !world->broken[0]; i++)
        world_step(world);
    if (!world->broken[0])
        world_settle(world);
    bool kept = world->broken[0] == '\0';
    if (!kept && (options->sabotage == SABOTAGE_NONE || options->one))
        printf("seed %llu: %s\n  replay: sim --seed %llu%s%s\n", (unsigned long long)seed,
               world->broken, (unsigned long long)seed, options->sabotage ? " --sabotage " : "",
               options->sabotage ? sabotage_text(options->sabotage) : "");
    world_free(world);
    return kept;
}

static bool parse_sabotage(const char *text, enum sabotage *out) {
    for (int how = SABOTAGE_NONE; how < SABOTAGE_COUNT; how++) {
        if (strcmp(text, sabotage_text((enum sabotage)how)) == 0) {
            *out = (enum sabotage)how;
            return true;
        }
    }
    return false;
}

static bool parse(int argc, char **argv, struct options *options) {
    *options = (struct options){.from = 1, .seeds = 100};
    for (int i = 1; i + 1 < argc; i += 2) {
        uint64_t number = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--seeds") == 0) {
            options->seeds = number;
        } else if (strcmp(argv[i], "--from") == 0) {
            options->from = number;
        } else if (strcmp(argv[i], "--seconds") == 0) {
            options->seconds = (int64_t)number;
            options->seeds = UINT64_MAX;
        } else if (strcmp(argv[i], "--seed") == 0) {
            options->from = number;
            options->seeds = 1;
            options->one = true;
        } else if (strcmp(argv[i], "--sabotage") != 0 ||
                   !parse_sabotage(argv[i + 1], &options->sabotage)) {
            return false;
        }
    }
    return argc % 2 == 1;
}

int main(int argc, char **argv) {
    struct options options;
    if (!parse(argc, argv, &options)) {
        fprintf(stderr,
                "usage: sim [--seeds N | --seed S | --seconds T] [--from S] [--sabotage HOW]\n");
        return 2;
    }
    log_set_level(LOG_ERROR + 1);
    time_t end = time(NULL) + (time_t)options.seconds;
    uint64_t run = 0;
    for (; run < options.seeds && (!options.seconds || time(NULL) < end); run++) {
        bool kept = run_seed(options.from + run, &options);
        if (kept)
            continue;
        if (options.sabotage == SABOTAGE_NONE)
            return 1;
        printf("%s: seen at seed %llu\n", sabotage_text(options.sabotage),
               (unsigned long long)(options.from + run));
        return 0;
    }
    printf("%llu seeds, every promise kept\n", (unsigned long long)run);
    return options.sabotage == SABOTAGE_NONE ? 0 : 1;
}
