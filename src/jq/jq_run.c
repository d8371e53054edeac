#include "jq/jq_run.h"

#include <jq.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "jq/jq_exact.h"
#include "jq/jq_weave.h"
#include "jq/jq_wire.h"
#include "port/jq.h"

/* Compiling takes some 20 ms, most of it for jq's own library. One program is usually run on many
 * inputs in a row, some of them with marked numbers: so the last few are kept. */
enum { KEPT_PROGRAMS = 4, SOURCE_MAX = 4 * JQ_PROGRAM_MAX };

struct compiled {
    char *source; /* NULL: the slot is empty */
    jq_state *state;
};

struct jq_run {
    struct jq_exact exact;
    struct compiled kept[KEPT_PROGRAMS];
    size_t turn; /* the slot that is overwritten next */
};

struct jq_run *jq_run_new(void) {
    struct jq_run *run = memory_new(sizeof *run);
    jq_exact_init(&run->exact);
    return run;
}

static void forget(struct compiled *compiled) {
    free(compiled->source);
    if (compiled->state)
        jq_teardown(&compiled->state);
    *compiled = (struct compiled){NULL, NULL};
}

void jq_run_free(struct jq_run *run) {
    for (size_t i = 0; i < KEPT_PROGRAMS; i++)
        forget(&run->kept[i]);
    free(run);
}

/* ---- compiling ---- */

/* jq ends each complaint with a count of them, and asks command-line users about their quotes. */
static void put_complaint(void *arg, jv message) {
    static const struct bytes question = {" (Unix shell quoting issues?)", 29};
    struct buf *out = arg;
    jv formatted = jq_format_error(message);
    struct bytes text = bytes_of(jv_string_value(formatted));
    struct bytes lead = BYTES("jq: error: ");
    if (bytes_starts(text, lead)) {
        text = bytes_trim(bytes_cut(text, lead.len, text.len));
        size_t at = bytes_find(text, question);
        if (out->len > 0)
            buf_str(out, "; ");
        buf_bytes(out, bytes_cut(text, 0, at));
        buf_bytes(out, bytes_cut(text, at + question.len, text.len));
    }
    jv_free(formatted);
}

static jv no_more_input(jq_state *state, void *arg) {
    (void)state, (void)arg;
    return jv_invalid();
}

static void drop_debug(void *arg, jv message) {
    (void)arg;
    jv_free(message);
}

static jq_state *compile(const char *source, struct buf *complaints) {
    jq_state *state = jq_init();
    if (!state)
        abort();
    jq_set_attr(state, jv_string("JQ_LIBRARY_PATH"), jv_array());
    jq_set_error_cb(state, put_complaint, complaints);
    jq_set_input_cb(state, no_more_input, NULL);
    jq_set_debug_cb(state, drop_debug, NULL);
    if (!jq_compile(state, source))
        jq_teardown(&state);
    return state;
}

/* Complaints are about the program as its author wrote it, not about what we made of it. */
static void complain(struct bytes program, struct buf *out) {
    char *source = bytes_dup(program);
    jq_state *state = compile(source, out);
    if (state)
        jq_teardown(&state);
    if (out->len == 0)
        buf_str(out, "the jq program does not compile");
    free(source);
}

static jq_state *find_kept(struct jq_run *run, const char *source) {
    for (size_t i = 0; i < KEPT_PROGRAMS; i++)
        if (run->kept[i].source && strcmp(run->kept[i].source, source) == 0)
            return run->kept[i].state;
    return NULL;
}

static jq_state *keep(struct jq_run *run, const char *source, jq_state *state) {
    struct compiled *slot = &run->kept[run->turn++ % KEPT_PROGRAMS];
    forget(slot);
    *slot = (struct compiled){bytes_dup(bytes_of(source)), state};
    return state;
}

/* NULL: *out says why. */
static jq_state *state_for(struct jq_run *run, struct bytes program, bool input_marked,
                           struct buf *out) {
    if (program.len > 0 && memchr(program.ptr, '\0', program.len)) {
        buf_str(out, "the jq program contains a NUL byte");
        return NULL;
    }
    struct buf source, ignored = {0};
    buf_init_heap(&source, SOURCE_MAX);
    jq_exact_program(&run->exact, program, input_marked, &source);
    const char *text = buf_cstr(&source);
    jq_state *state = find_kept(run, text);
    if (!state && !source.overflow) {
        state = compile(text, &ignored);
        if (state)
            keep(run, text, state);
    }
    if (!state)
        complain(program, out);
    buf_free(&source);
    return state;
}

bool jq_run_check(struct jq_run *run, struct bytes program, struct buf *out) {
    return state_for(run, program, false, out) != NULL;
}

/* ---- running ---- */

/* What a thrown value says. Consumes it. */
static void put_thrown(struct jq_run *run, jv thrown, struct bytes input, struct buf *out) {
    jv text = jv_get_kind(thrown) == JV_KIND_STRING ? thrown : jv_dump_string(thrown, 0);
    struct bytes said = {jv_string_value(text), (size_t)jv_string_length_bytes(jv_copy(text))};
    jq_exact_error(&run->exact, bytes_clip(said, JQ_ERROR_MAX), input, out);
    jv_free(text);
}

/* The program ended without an output: by itself, by an error, or by halt_error. Consumes `end`. */
static bool ended(struct jq_run *run, jq_state *state, jv end, struct bytes input,
                  struct buf *out) {
    if (jv_invalid_has_msg(jv_copy(end))) {
        put_thrown(run, jv_invalid_get_msg(end), input, out);
        return false;
    }
    jv_free(end);
    if (!jq_halted(state))
        return buf_str(out, "null"), true;
    jv code = jq_get_exit_code(state);
    bool failed = jv_get_kind(code) == JV_KIND_NUMBER && jv_number_value(code) != 0;
    jv_free(code);
    if (failed)
        put_thrown(run, jq_get_error_message(state), input, out);
    else
        buf_str(out, "null");
    return !failed;
}

static bool is_truthy(jv value) {
    jv_kind kind = jv_get_kind(value);
    return kind != JV_KIND_FALSE && kind != JV_KIND_NULL;
}

/* Consumes `before` and `after`. */
static bool put_output(struct jq_run *run, struct bytes input, jv before, jv after,
                       size_t output_max, struct buf *out) {
    struct buf whole;
    buf_init_heap(&whole, output_max);
    jq_weave(&run->exact, input, before, after, &whole);
    bool fits = !whole.overflow;
    if (fits)
        buf_bytes(out, buf_view(&whole));
    else
        buf_printf(out, "the jq program's result is larger than %zu bytes", output_max);
    buf_free(&whole);
    return fits;
}

static bool run_on(struct jq_run *run, jq_state *state, struct bytes input, jv value,
                   size_t output_max, struct buf *out, bool *truthy) {
    jq_start(state, jv_copy(value), 0);
    jv after = jq_next(state);
    if (!jv_is_valid(after)) {
        jv_free(value);
        return ended(run, state, after, input, out);
    }
    *truthy = is_truthy(after);
    return put_output(run, input, value, after, output_max, out);
}

/* Consumes `value`, which is not valid. */
static bool bad_input(jv value, struct buf *out) {
    jv message = jv_invalid_get_msg(value);
    buf_printf(out, "the input is not JSON that jq can read: %s",
               jv_get_kind(message) == JV_KIND_STRING ? jv_string_value(message) : "it is empty");
    jv_free(message);
    return false;
}

bool jq_run_once(struct jq_run *run, struct bytes program, struct bytes input, size_t output_max,
                 struct buf *out, bool *truthy) {
    struct buf marked;
    buf_init_heap(&marked, 4 * (size_t)JQ_INPUT_MAX);
    *truthy = false;
    bool is_marked = jq_exact_input(&run->exact, input, &marked);
    jq_state *state = state_for(run, program, is_marked, out);
    bool ok = false;
    if (state) {
        struct bytes text = is_marked ? buf_view(&marked) : input;
        jv value = jv_parse_sized(text.ptr, (int)text.len);
        ok = jv_is_valid(value) ? run_on(run, state, input, value, output_max, out, truthy)
                                : bad_input(value, out);
    }
    buf_free(&marked);
    return ok;
}
