/* jq_run: see the header. */
#include "jq/jq_run.h"

#include <assert.h>
#include <jq.h>
#include <stdlib.h>

#include "base/memory.h"
#include "jq/jq_exact.h"
#include "jq/jq_kept.h"
#include "jq/jq_weave.h"
#include "jq/jq_wire.h"
#include "port/jq.h"

/* Marks lengthen the input: two for each number of 17 digits or more. */
#define MARKED_MAX (4 * (size_t)JQ_INPUT_MAX)

struct jq_run {
    struct jq_exact exact;
    struct jq_kept *kept;
    /* Set by jq_run_prepare. */
    jq_state *state;    /* borrowed from `kept` */
    struct bytes input; /* borrowed from the caller, unmarked */
    bool is_marked;
    struct buf marked;
};

struct jq_run *jq_run_new(size_t kept_max) {
    struct jq_run *run = memory_new(sizeof *run);
    jq_exact_init(&run->exact);
    run->kept = jq_kept_new(&run->exact, kept_max);
    buf_init_heap(&run->marked, MARKED_MAX);
    return run;
}

void jq_run_free(struct jq_run *run) {
    jq_kept_free(run->kept);
    buf_free(&run->marked);
    free(run);
}

bool jq_run_prepare(struct jq_run *run, struct bytes program, struct bytes input, struct buf *out) {
    buf_free(&run->marked);
    run->input = input;
    run->is_marked = jq_exact_input(&run->exact, input, &run->marked);
    run->state = jq_kept_get(run->kept, program, run->is_marked, out);
    return run->state != NULL;
}

size_t jq_run_compiled(const struct jq_run *run) {
    return jq_kept_compiled(run->kept);
}

/* ---- running ---- */

/* Appends the text of a thrown value. Consumes it. */
static void put_thrown(struct jq_run *run, jv thrown, struct buf *out) {
    jv text = jv_get_kind(thrown) == JV_KIND_STRING ? thrown : jv_dump_string(thrown, 0);
    struct bytes said = {jv_string_value(text), (size_t)jv_string_length_bytes(jv_copy(text))};
    jq_exact_error(&run->exact, bytes_clip(said, JQ_ERROR_MAX), run->input, out);
    jv_free(text);
}

/* The program ended without output: by itself, with an error, or by halt_error. Consumes `end`. */
static bool ended(struct jq_run *run, jv end, struct buf *out) {
    if (jv_invalid_has_msg(jv_copy(end))) {
        put_thrown(run, jv_invalid_get_msg(end), out);
        return false;
    }
    jv_free(end);
    if (!jq_halted(run->state))
        return true;
    jv code = jq_get_exit_code(run->state);
    bool failed = jv_get_kind(code) == JV_KIND_NUMBER && jv_number_value(code) != 0;
    jv_free(code);
    if (failed)
        put_thrown(run, jq_get_error_message(run->state), out);
    return !failed;
}

static bool is_truthy(jv value) {
    jv_kind kind = jv_get_kind(value);
    return kind != JV_KIND_FALSE && kind != JV_KIND_NULL;
}

/* Consumes `before` and `after`. */
static bool put_output(struct jq_run *run, jv before, jv after, size_t output_max,
                       struct buf *out) {
    struct buf whole;
    buf_init_heap(&whole, output_max);
    jq_weave(&run->exact, run->input, before, after, &whole);
    bool fits = !whole.overflow;
    if (fits)
        buf_bytes(out, buf_view(&whole));
    else
        buf_printf(out, "the jq program's result is larger than %zu bytes", output_max);
    buf_free(&whole);
    return fits;
}

/* Consumes `value`. */
static bool run_on(struct jq_run *run, jv value, size_t output_max, struct buf *out, bool *truthy) {
    jq_start(run->state, jv_copy(value), 0);
    jv after = jq_next(run->state);
    if (!jv_is_valid(after)) {
        jv_free(value);
        return ended(run, after, out);
    }
    *truthy = is_truthy(after);
    return put_output(run, value, after, output_max, out);
}

/* Consumes `value`, which is not valid. */
static bool bad_input(jv value, struct buf *out) {
    jv message = jv_invalid_get_msg(value);
    buf_printf(out, "the input is not JSON that jq can read: %s",
               jv_get_kind(message) == JV_KIND_STRING ? jv_string_value(message) : "it is empty");
    jv_free(message);
    return false;
}

/* Releases the input. A program that halted is dropped: libjq 1.6 frees its exit code and message
 * at every later start. */
static void rest(struct jq_run *run) {
    if (jq_halted(run->state))
        jq_kept_drop(run->kept, run->state);
    else
        jq_start(run->state, jv_null(), 0);
    run->state = NULL;
}

bool jq_run_go(struct jq_run *run, size_t output_max, struct buf *out, bool *truthy) {
    assert(run->state);
    struct bytes text = run->is_marked ? buf_view(&run->marked) : run->input;
    jv value = jv_parse_sized(text.ptr, (int)text.len);
    *truthy = false;
    if (!jv_is_valid(value))
        return bad_input(value, out);
    bool ok = run_on(run, value, output_max, out, truthy);
    rest(run);
    return ok;
}
