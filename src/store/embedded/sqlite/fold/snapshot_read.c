#include "store/embedded/sqlite/fold/snapshot_read.h"

enum { READ_AHEAD = 1 << 20 }; /* records that were committed together are mostly adjacent */

struct snapshot_reader snapshot_read_begin(struct journal *journal) {
    return (struct snapshot_reader){
        .journal = journal, .envelopes.ahead = READ_AHEAD, .bodies.ahead = READ_AHEAD};
}

void snapshot_read_end(struct snapshot_reader *reader) {
    journal_window_free(&reader->envelopes);
    journal_window_free(&reader->bodies);
}

struct bytes snapshot_read_mark(const struct snapshot_entry *entry) {
    return entry->mark ? (struct bytes){entry->mark->data, entry->mark->len} : BYTES_NONE;
}

/* Reads the record's bytes from the journal, if they are not in memory. */
static enum status read_record(struct journal *journal, uint64_t place,
                               struct journal_window *window, struct journal_record *out,
                               struct err *err) {
    struct bytes bytes;
    enum status status = journal->vtable->read(journal, place, window, &bytes, err);
    if (status == STATUS_OK && !journal_record_decode(bytes, out))
        status = err_set(err, STATUS_CORRUPT, "the journal's record at %llu is not one of ours",
                         (unsigned long long)place);
    return status;
}

enum status snapshot_read_row(struct snapshot_reader *reader, const struct snapshot *snapshot,
                              size_t place, struct row *out, struct err *err) {
    const struct snapshot_entry *entry = &snapshot->entries[place];
    const struct snapshot_bytes *bytes = &snapshot->bytes[place];
    struct journal_record record = {.body = BYTES_NONE};
    enum status status = STATUS_OK;
    *out = (struct row){.seq = entry->entry->seq,
                        .queue = entry->entry->queue,
                        .envelope = bytes->envelope.bytes,
                        .body = bytes->body.bytes,
                        .mark = snapshot_read_mark(entry),
                        .fresh = entry->fresh && !snapshot->tried};
    if (!bytes->envelope.blob) {
        status =
            read_record(reader->journal, entry->envelope_place, &reader->envelopes, &record, err);
        out->envelope = record.text;
    }
    if (status != STATUS_OK || bytes->body.blob || entry->body_place == PLACE_FILE)
        return status;
    if (bytes->envelope.blob || entry->body_place != entry->envelope_place)
        status = read_record(reader->journal, entry->body_place, &reader->bodies, &record, err);
    out->body = record.body;
    return status;
}
