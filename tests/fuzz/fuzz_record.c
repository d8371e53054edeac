/* Any bytes as a record of the journal: no record, or one that encodes to the same bytes. */
#include "fuzz.h"

#include "store/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct record record;
    if (!record_decode(fuzz_text(data, size), &record))
        return 0;
    FUZZ_CHECK(record.text.len + record.body.len <= size);
    struct blob *again = record_encode(&record);
    record_set_seq(again, record.seq);
    FUZZ_CHECK(again->len == size);
    blob_free(again);
    return 0;
}
