#include "store/tables/journal_record.h"

#include <assert.h>
#include <string.h>

enum {
    AT_KIND = 0,
    AT_HAS_BODY = 1,
    AT_QUEUE = 4,
    AT_SEQ = 8,
    AT_TEXT_LEN = 16,
    PREFIX_BYTES = 20,
};

static void put_number(char *at, uint64_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        at[i] = (char)(value >> (8 * i) & 0xff);
}

static uint64_t get_number(const char *at, size_t bytes) {
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)(unsigned char)at[i] << (8 * i);
    return value;
}

struct blob *journal_record_encode(const struct journal_record *record) {
    assert(record->text.len <= UINT32_MAX);
    struct blob *blob = blob_new(PREFIX_BYTES + record->text.len + record->body.len);
    if (!blob)
        return NULL;
    memset(blob->data, 0, PREFIX_BYTES);
    blob->data[AT_KIND] = (char)record->kind;
    blob->data[AT_HAS_BODY] = record->body.ptr != NULL;
    put_number(blob->data + AT_QUEUE, record->queue, 4);
    put_number(blob->data + AT_SEQ, record->seq, 8);
    put_number(blob->data + AT_TEXT_LEN, record->text.len, 4);
    if (record->text.len > 0)
        memcpy(blob->data + PREFIX_BYTES, record->text.ptr, record->text.len);
    if (record->body.len > 0)
        memcpy(blob->data + PREFIX_BYTES + record->text.len, record->body.ptr, record->body.len);
    return blob;
}

void journal_record_set_seq(struct blob *encoded, uint64_t seq) {
    put_number(encoded->data + AT_SEQ, seq, 8);
}

bool journal_record_decode(struct bytes bytes, struct journal_record *out) {
    if (bytes.len < PREFIX_BYTES)
        return false;
    int kind = (unsigned char)bytes.ptr[AT_KIND];
    uint64_t text_len = get_number(bytes.ptr + AT_TEXT_LEN, 4);
    if (kind < JOURNAL_RECORD_PUT || kind > JOURNAL_RECORD_MARK ||
        text_len > bytes.len - PREFIX_BYTES)
        return false;
    *out = (struct journal_record){
        .kind = (enum journal_record_kind)kind,
        .queue = (uint32_t)get_number(bytes.ptr + AT_QUEUE, 4),
        .seq = get_number(bytes.ptr + AT_SEQ, 8),
        .text = {bytes.ptr + PREFIX_BYTES, text_len},
    };
    struct bytes rest = bytes_cut(bytes, PREFIX_BYTES + text_len, bytes.len);
    bool has_body = bytes.ptr[AT_HAS_BODY] & 1;
    if (has_body)
        out->body = rest;
    return has_body || rest.len == 0;
}
