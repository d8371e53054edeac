/* driver: runs a fuzz target as an ordinary test: the corpus first, then seeded mutations of it, so
 * that every build runs the same inputs. The input that broke a promise is printed.
 *
 *   fuzz_x CORPUS_DIR ROUNDS [SEED] */
#include "fuzz.h"

#include <dirent.h>
#include <signal.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/rng.h"

enum {
    INPUTS_MAX = 256,
    INPUT_SIZE_MAX = 64 * 1024,
    MUTANT_SIZE_MAX = 4096,
    MUTATIONS_MAX = 8,
    SEED = 20261115,
};

struct corpus {
    struct bytes inputs[INPUTS_MAX];
    size_t count;
};

static struct bytes current; /* for the handler of SIGABRT alone */

static void print_current(int signal_number) {
    fprintf(stderr, "input of %zu bytes:\n", current.len);
    for (size_t i = 0; i < current.len; i++)
        fprintf(stderr, "%02x", (unsigned char)current.ptr[i]);
    fputc('\n', stderr);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* A copy of just the right size, so that a sanitizer sees the first byte read behind it. */
static void run(struct bytes input) {
    char *copy = memory_new(input.len ? input.len : 1);
    if (input.len)
        memcpy(copy, input.ptr, input.len);
    current = (struct bytes){copy, input.len};
    LLVMFuzzerTestOneInput((const uint8_t *)copy, input.len);
    free(copy);
}

static struct bytes read_file(const char *folder, const char *name) {
    struct buf path, content;
    buf_init_heap(&path, 4096);
    buf_init_heap(&content, INPUT_SIZE_MAX);
    buf_printf(&path, "%s/%s", folder, name);
    FILE *file = fopen(buf_cstr(&path), "rb");
    FUZZ_CHECK(file);
    char *room = buf_room(&content, INPUT_SIZE_MAX);
    size_t len = fread(room, 1, INPUT_SIZE_MAX, file);
    fclose(file);
    buf_free(&path);
    return (struct bytes){buf_take(&content, NULL), len};
}

static void read_corpus(const char *folder, struct corpus *corpus) {
    struct dirent **names;
    int count = scandir(folder, &names, NULL, alphasort);
    FUZZ_CHECK(count > 0);
    for (int i = 0; i < count; i++) {
        if (names[i]->d_name[0] != '.' && corpus->count < INPUTS_MAX)
            corpus->inputs[corpus->count++] = read_file(folder, names[i]->d_name);
        free(names[i]);
    }
    free(names);
    FUZZ_CHECK(corpus->count > 0);
}

static struct bytes some_slice(const struct corpus *corpus, struct rng *rng) {
    struct bytes from = corpus->inputs[rng_below(rng, corpus->count)];
    size_t start = rng_below(rng, from.len + 1);
    return bytes_cut(from, start, start + rng_below(rng, 64));
}

/* Replaces a short run by a slice of the corpus, by one byte, or by nothing. */
static void mutate(const struct corpus *corpus, struct rng *rng, struct buf *input) {
    static const char special[] = "\0\xff\"\\{}[]:,'0-\n\t ";
    char byte =
        rng_below(rng, 2) ? special[rng_below(rng, sizeof special - 1)] : (char)rng_next(rng);
    struct bytes choices[] = {some_slice(corpus, rng), {&byte, 1}, BYTES_NONE};
    struct bytes patch = choices[rng_below(rng, 3)];
    size_t at = rng_below(rng, input->len + 1);
    size_t gone = bytes_cut(buf_view(input), at, at + rng_below(rng, 8)).len;
    char memory[MUTANT_SIZE_MAX];
    struct buf out;
    buf_init_fixed(&out, memory, sizeof memory);
    buf_put(&out, input->ptr, at);
    buf_bytes(&out, patch);
    buf_put(&out, input->ptr + at + gone, input->len - at - gone);
    if (out.overflow)
        return;
    buf_clear(input);
    buf_bytes(input, buf_view(&out));
}

static void run_mutants(const struct corpus *corpus, struct rng *rng, long rounds) {
    for (long round = 0; round < rounds; round++) {
        char memory[MUTANT_SIZE_MAX];
        struct buf input;
        buf_init_fixed(&input, memory, sizeof memory);
        struct bytes parent = corpus->inputs[rng_below(rng, corpus->count)];
        buf_bytes(&input, bytes_cut(parent, 0, MUTANT_SIZE_MAX));
        for (uint64_t n = 1 + rng_below(rng, MUTATIONS_MAX); n > 0; n--)
            mutate(corpus, rng, &input);
        run(buf_view(&input));
    }
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: %s CORPUS_DIR ROUNDS [SEED]\n", argv[0]);
        return 2;
    }
    struct corpus corpus = {.count = 0};
    struct rng rng;
    signal(SIGABRT, print_current);
    rng_seed(&rng, argc > 3 ? strtoull(argv[3], NULL, 10) : SEED);
    read_corpus(argv[1], &corpus);
    run(BYTES_NONE);
    for (size_t i = 0; i < corpus.count; i++)
        run(corpus.inputs[i]);
    run_mutants(&corpus, &rng, strtol(argv[2], NULL, 10));
    for (size_t i = 0; i < corpus.count; i++)
        free((char *)corpus.inputs[i].ptr);
    return 0;
}
