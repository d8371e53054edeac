/* backlog: what the store can do while millions of messages wait in it. */
#ifndef BENCH_BACKLOG_H
#define BENCH_BACKLOG_H

#include <stdint.h>

void backlog_run(const char *dir, uint64_t messages);

#endif
