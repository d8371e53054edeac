/* A program that is nothing but the helper, for tests of the pool. */
#include "jq/jq_pool.h"

int main(void) {
    return jq_helper_main();
}
