/* A helper on a machine that is too busy to start it soon: for tests of the pool. */
#include <time.h>

#include "jq/jq_pool.h"

enum { START_MS = 1500, NS_A_MS = 1000000 };

int main(void) {
    struct timespec wait = {START_MS / 1000, START_MS % 1000 * NS_A_MS};
    nanosleep(&wait, NULL);
    return jq_helper_main();
}
