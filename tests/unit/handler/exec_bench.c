#include "exec_bench.h"

#include "base/tempdir.h"
#include "base/memory.h"

int exec_bench_set_up(void **state) {
    struct exec_bench *bench = memory_new(sizeof *bench);
    bench->pool = exec_pool_new(&caller_clock);
    assert_int_equal(tempdir_make("/tmp", "impound-exec", bench->dir, sizeof bench->dir, NULL),
                     STATUS_OK);
    *state = bench;
    return 0;
}

int exec_bench_tear_down(void **state) {
    struct exec_bench *bench = *state;
    exec_pool_free(bench->pool);
    tempdir_remove(bench->dir);
    free(bench);
    return 0;
}

struct handler *exec_bench_program(struct exec_bench *bench, const char *name, const char *flag,
                                   const char *code, int64_t timeout_ms) {
    struct bytes argv[] = {bytes_of(name), bytes_of(flag), bytes_of(code)};
    struct exec_options options = {
        .argv = argv,
        .argc = code ? 3 : 1,
        .cwd = bytes_of(bench->dir),
        .timeout_ms = timeout_ms,
    };
    return exec_new(bench->pool, &options);
}

struct handler *exec_bench_shell(struct exec_bench *bench, const char *code) {
    return exec_bench_program(bench, "sh", "-c", code, EXEC_BENCH_LONG_MS);
}

void exec_bench_run(struct caller *caller, struct handler *handler) {
    caller_run(caller, handler);
    handler->vtable->free(handler);
}

void exec_bench_run_shell(struct exec_bench *bench, struct caller *caller, const char *code) {
    caller_init(caller);
    exec_bench_run(caller, exec_bench_shell(bench, code));
}
