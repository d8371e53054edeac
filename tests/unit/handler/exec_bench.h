/* exec_bench: an exec pool and a folder of its own, and the ways to run a program there. */
#ifndef EXEC_BENCH_H
#define EXEC_BENCH_H

#include "test.h"

#include "caller.h"
#include "handler/exec/exec.h"

enum { EXEC_BENCH_LONG_MS = 3600 * 1000 };

struct exec_bench {
    struct exec_pool *pool;
    char dir[32];
};

/* Of a group of tests: the state is the bench. */
int exec_bench_set_up(void **state);
int exec_bench_tear_down(void **state);

/* `name` with `flag` and `code`, or, with code NULL, alone. */
struct handler *exec_bench_program(struct exec_bench *bench, const char *name, const char *flag,
                                   const char *code, int64_t timeout_ms);
struct handler *exec_bench_shell(struct exec_bench *bench, const char *code);
/* Runs it on the call and frees the handler. */
void exec_bench_run(struct caller *caller, struct handler *handler);
/* The same with a shell and a plain call. */
void exec_bench_run_shell(struct exec_bench *bench, struct caller *caller, const char *code);

#endif
