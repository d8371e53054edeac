/* read_only: see the header. */
#include "triage/decide/read_only.h"

#include <assert.h>

enum { CONTEXT_MEMORY = 1024 };

/* The adopt entry of the letter; empty: unknown. */
static struct bytes entry_of(const struct envelope *envelope, struct arena *arena) {
    struct json context, adopted, from;
    struct bytes name = BYTES_NONE;
    if (json_parse(envelope->context, &context, NULL) == STATUS_OK &&
        json_get(context, "adopted", &adopted) && json_get(adopted, "from", &from))
        json_string(from, arena, &name);
    return name;
}

enum status read_only_refuse(const struct envelope *envelope, struct bytes id, struct err *err) {
    assert(envelope->read_only);
    char memory[CONTEXT_MEMORY];
    struct arena arena;
    arena_init_fixed(&arena, memory, sizeof memory);
    struct bytes entry = entry_of(envelope, &arena);
    return err_set(err, STATUS_CONFLICT,
                   "letter \"%.*s\" is read-only: it was adopted with mode: peek, and its broker "
                   "still has it. Set mode: take for \"%.*s\" in adopt to change it",
                   BYTES_ARG(bytes_clip(id, 100)), BYTES_ARG(bytes_clip(entry, 200)));
}

enum status read_only_refuse_all(uint64_t count, struct err *err) {
    assert(count > 0);
    return err_set(
        err, STATUS_CONFLICT,
        "%llu letters are read-only: they were adopted with mode: peek, and their broker "
        "still has them. Set mode: take in adopt to change them",
        (unsigned long long)count);
}
