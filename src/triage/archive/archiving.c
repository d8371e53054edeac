/* archiving: writes letters to an archive before they are removed from the store. */
#include "triage/archive/archiving.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "triage/query/letter_line.h"
#include "triage/archive/spill_path.h"

static enum status add_line(struct triage *triage, struct archive *archive,
                            const struct message *held, struct err *err) {
    struct buf line;
    buf_init_heap(&line, LETTER_LINE_MAX);
    enum status status = letter_line_put(triage, held, &line, err);
    if (status == STATUS_OK && line.overflow)
        status = err_set(err, STATUS_TOO_LARGE, "letter %.*s is too large to archive",
                         BYTES_ARG(held->envelope.letter_id));
    if (status == STATUS_OK)
        status = archive_add(archive, buf_view(&line), held->envelope.dead_at, err);
    buf_free(&line);
    return status;
}

enum status archiving_write(struct triage *triage, const struct archiving_place *place,
                            struct message *const *letters, size_t count, struct arena *arena,
                            struct manifest *out, struct err *err) {
    assert(count <= ARCHIVING_LETTERS_MAX);
    char memory[SPILL_PATH_MAX];
    struct buf folder;
    struct archive *archive;
    buf_init_fixed(&folder, memory, sizeof memory);
    enum status status =
        spill_path_folder(place->base_dir, place->archive, place->dlq, &folder, err);
    if (status == STATUS_OK)
        status = archive_begin(triage, buf_view(&folder), place->dlq, &archive, err);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        status = add_line(triage, archive, letters[i], err);
    if (status == STATUS_OK)
        return archive_finish(archive, arena, out, err);
    archive_abandon(archive);
    return status;
}

struct bytes archiving_after(const struct manifest *manifest, struct arena *arena) {
    struct buf text;
    if (manifest->letters == 0)
        return BYTES_NONE;
    buf_init_heap(&text, SPILL_PATH_MAX);
    struct json_out json = json_out(&text);
    json_open(&json, '{');
    json_key(&json, "archive");
    json_put(&json, manifest->file);
    json_close(&json, '}');
    struct bytes after = arena_dup(arena, buf_view(&text));
    buf_free(&text);
    return after;
}

enum status archiving_drop_originals(struct triage *triage, struct message *const *letters,
                                     const struct store_op *ops, size_t count, struct err *err) {
    struct store_op *drops = memory_array(count, sizeof *drops);
    size_t dropped = 0;
    for (size_t i = 0; i < count; i++)
        if (ops[i].kind == STORE_FORGET && !ops[i].skipped && letters[i]->envelope.edited)
            drops[dropped++] = (struct store_op){
                .kind = STORE_KEEP,
                .keep = {.space = SPACE_ORIGINAL, .name = letters[i]->envelope.letter_id}};
    enum status status = dropped > 0 ? triage_commit(triage, drops, dropped, err) : STATUS_OK;
    free(drops);
    return status;
}
