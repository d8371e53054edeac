/* jq_kept: a cache of compiled programs, least recently used first out. */
#include "jq/jq_kept.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/list.h"
#include "base/memory.h"
#include "port/jq.h"

enum { SOURCE_MAX = 4 * JQ_PROGRAM_MAX };

struct compiled_program {
    struct list link;
    uint64_t hash; /* of the program */
    struct bytes program;
    bool input_marked;
    jq_state *state;
};

struct jq_kept {
    const struct jq_exact *exact;
    size_t max, count, compiled;
    struct list entries; /* most recently used first */
};

struct jq_kept *jq_kept_new(const struct jq_exact *exact, size_t max) {
    assert(max > 0);
    struct jq_kept *kept = memory_new(sizeof *kept);
    *kept = (struct jq_kept){.exact = exact, .max = max};
    list_init(&kept->entries);
    return kept;
}

static void forget(struct jq_kept *kept, struct compiled_program *entry) {
    assert(kept->count > 0);
    list_remove(&entry->link);
    kept->count--;
    jq_teardown(&entry->state);
    free((char *)(uintptr_t)entry->program.ptr);
    free(entry);
}

void jq_kept_free(struct jq_kept *kept) {
    if (!kept)
        return;
    while (!list_empty(&kept->entries))
        forget(kept, CONTAINER_OF(kept->entries.next, struct compiled_program, link));
    free(kept);
}

size_t jq_kept_compiled(const struct jq_kept *kept) {
    return kept->compiled;
}

/* ---- compiling ---- */

/* Compiler messages span lines; logs, problems and terminals want one line. */
static void put_on_one_line(struct buf *out, struct bytes text) {
    for (size_t i = 0; i < text.len; i++)
        buf_char(out, text.ptr[i] == '\n' ? ' ' : text.ptr[i]);
}

/* Skips jq's final count of errors, and its hint about shell quoting. */
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
        put_on_one_line(out, bytes_cut(text, 0, at));
        put_on_one_line(out, bytes_cut(text, at + question.len, text.len));
    }
    jv_free(formatted);
}

static void drop_message(void *arg, jv message) {
    (void)arg;
    jv_free(message);
}

static jv no_more_input(jq_state *state, void *arg) {
    (void)state, (void)arg;
    return jv_invalid();
}

static jq_state *compile(const char *source, struct buf *complaints) {
    jq_state *state = jq_init();
    if (!state)
        abort();
    jq_set_attr(state, jv_string("JQ_LIBRARY_PATH"), jv_array());
    jq_set_error_cb(state, put_complaint, complaints);
    jq_set_input_cb(state, no_more_input, NULL);
    jq_set_debug_cb(state, drop_message, NULL);
    if (!jq_compile(state, source))
        jq_teardown(&state);
    else
        jq_set_error_cb(state, drop_message, NULL); /* the program outlives `complaints` */
    return state;
}

/* Compiles the program as its author wrote it, for its error messages. */
static void complain(struct bytes program, struct buf *out) {
    char *source = bytes_dup(program);
    jq_state *state = compile(source, out);
    if (state)
        jq_teardown(&state);
    if (out->len == 0)
        buf_str(out, "the jq program does not compile");
    free(source);
}

/* NULL: *out has the error. */
static jq_state *compile_exact(struct jq_kept *kept, struct bytes program, bool input_marked,
                               struct buf *out) {
    struct buf source, ignored;
    buf_init_heap(&source, SOURCE_MAX);
    buf_init_heap(&ignored, SOURCE_MAX);
    jq_exact_program(kept->exact, program, input_marked, &source);
    kept->compiled++;
    jq_state *state = source.overflow ? NULL : compile(buf_cstr(&source), &ignored);
    if (!state)
        complain(program, out);
    buf_free(&ignored);
    buf_free(&source);
    return state;
}

/* ---- the cache ---- */

static struct compiled_program *find(struct jq_kept *kept, uint64_t hash, struct bytes program,
                                     bool input_marked) {
    LIST_EACH(link, &kept->entries) {
        struct compiled_program *entry = CONTAINER_OF(link, struct compiled_program, link);
        if (entry->hash == hash && entry->input_marked == input_marked &&
            bytes_eq(entry->program, program))
            return entry;
    }
    return NULL;
}

static void keep(struct jq_kept *kept, uint64_t hash, struct bytes program, bool input_marked,
                 jq_state *state) {
    assert(kept->count <= kept->max);
    if (kept->count == kept->max)
        forget(kept, CONTAINER_OF(kept->entries.prev, struct compiled_program, link));
    struct compiled_program *entry = memory_new(sizeof *entry);
    *entry = (struct compiled_program){.hash = hash,
                                       .program = {bytes_dup(program), program.len},
                                       .input_marked = input_marked,
                                       .state = state};
    list_push_front(&kept->entries, &entry->link);
    kept->count++;
}

void jq_kept_drop(struct jq_kept *kept, const jq_state *state) {
    LIST_EACH_SAFE(link, &kept->entries) {
        struct compiled_program *entry = CONTAINER_OF(link, struct compiled_program, link);
        if (entry->state == state)
            forget(kept, entry);
    }
}

jq_state *jq_kept_get(struct jq_kept *kept, struct bytes program, bool input_marked,
                      struct buf *out) {
    uint64_t hash = bytes_hash(program);
    struct compiled_program *entry = find(kept, hash, program, input_marked);
    if (entry) {
        list_remove(&entry->link);
        list_push_front(&kept->entries, &entry->link);
        return entry->state;
    }
    if (program.len > 0 && memchr(program.ptr, '\0', program.len)) {
        buf_str(out, "the jq program contains a NUL byte");
        return NULL;
    }
    jq_state *state = compile_exact(kept, program, input_marked, out);
    if (state)
        keep(kept, hash, program, input_marked, state);
    return state;
}
