/* Whatever stands beside an archive: refused with words, or a manifest that is written as it reads.
 */
#include "fuzz.h"

#include "triage/archive/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    struct manifest manifest, again;
    struct err err = {STATUS_OK, ""};
    struct buf text;
    arena_init_heap(&arena, 4096);
    buf_init_heap(&text, (size_t)1 << 20);
    enum status status = manifest_read(fuzz_text(data, size), &arena, &manifest, &err);
    FUZZ_CHECK(status == STATUS_OK || err.text[0]);
    if (status == STATUS_OK) {
        struct json_out json = json_out(&text);
        manifest_put(&manifest, &json);
        FUZZ_CHECK(manifest_read(buf_view(&text), &arena, &again, &err) == STATUS_OK);
        FUZZ_CHECK(bytes_eq(manifest.file, again.file) && manifest.letters == again.letters);
        FUZZ_CHECK(manifest.last_dead_at.ms == again.last_dead_at.ms);
    }
    buf_free(&text);
    arena_free(&arena);
    return 0;
}
