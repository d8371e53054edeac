/* Whatever line is imported: refused with words, or a letter whose line reads as the same letter.
 */
#include "fuzz.h"

#include "core/lifecycle.h"
#include "triage/query/letter_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    struct letter_line line, again;
    struct err err = {STATUS_OK, ""};
    struct buf text;
    arena_init_heap(&arena, 4096);
    buf_init_heap(&text, (size_t)1 << 24);
    enum status status = letter_line_read(fuzz_text(data, size), &arena, &line, &err);
    FUZZ_CHECK(status == STATUS_OK || err.text[0]);
    if (status == STATUS_OK) {
        FUZZ_CHECK(lifecycle_is_letter(line.envelope.state) && line.envelope.letter_id.len > 0);
        envelope_encode(&line.envelope, ENVELOPE_LINE, line.body, &text);
        FUZZ_CHECK(bytes_find(buf_view(&text), BYTES("\n")) == text.len);
        FUZZ_CHECK(letter_line_read(buf_view(&text), &arena, &again, &err) == STATUS_OK);
        FUZZ_CHECK(bytes_eq(line.body, again.body));
        FUZZ_CHECK(bytes_eq(line.envelope.letter_id, again.envelope.letter_id));
    }
    buf_free(&text);
    arena_free(&arena);
    return 0;
}
