/* letter_line: see the header. */
#include "triage/query/letter_line.h"

#include <sodium.h>
#include <string.h>

#include "base/text/base64.h"
#include "core/lifecycle.h"

enum { ID_MAX = 255, ORIGINAL_ARENA_CHUNK = 64 * 1024 };

/* ---- writing ---- */

/* Replaces the closing brace by one more member. */
static void put_original(struct bytes original, struct buf *out) {
    out->len--;
    buf_str(out, ",\"original_base64\":\"");
    base64_encode(original, out);
    buf_str(out, "\"}");
}

enum status letter_line_put(struct triage *triage, const struct message *held, struct buf *out,
                            struct err *err) {
    struct store *store = triage->store;
    const struct envelope *envelope = &held->envelope;
    envelope_encode(envelope, ENVELOPE_LINE, held->body, out);
    if (!envelope->edited)
        return STATUS_OK;
    struct arena arena;
    struct bytes original;
    arena_init_heap(&arena, ORIGINAL_ARENA_CHUNK);
    enum status status = letters_note(store->letters, 0, SPACE_ORIGINAL, envelope->letter_id,
                                      triage_now(triage).wall, &arena, &original, err);
    if (status == STATUS_OK)
        put_original(original, out);
    arena_free(&arena);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

/* ---- reading ---- */

static enum status read_base64(struct json value, const char *what, struct arena *arena,
                               struct bytes *out, struct err *err) {
    struct bytes text;
    struct buf decoded;
    if (!json_string(value, arena, &text))
        return err_set(err, STATUS_INVALID, "%s is not a string", what);
    buf_init_fixed(&decoded, arena_alloc(arena, text.len + 1), text.len + 1);
    if (!base64_decode(text, &decoded))
        return err_set(err, STATUS_INVALID, "%s is not base64", what);
    *out = buf_view(&decoded);
    return STATUS_OK;
}

static bool is_the_body(const struct letter_line *line, struct bytes body) {
    unsigned char hash[crypto_hash_sha256_BYTES];
    char hex[crypto_hash_sha256_BYTES * 2 + 1];
    crypto_hash_sha256(hash, (const unsigned char *)body.ptr, body.len);
    sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
    return line->envelope.size == body.len && strcmp(hex, line->envelope.content_hash) == 0;
}

/* Version 0.1 wrote bodies of text/json and +json as strings: the hash tells which form it is. */
static bool is_text_of_old(const struct letter_line *line, struct json body, struct arena *arena,
                           struct bytes *text) {
    return body.type == JSON_STRING && line->envelope.content_hash[0] &&
           !is_the_body(line, body.text) && json_string(body, arena, text) &&
           is_the_body(line, *text);
}

static enum status read_body(struct json message, struct arena *arena, struct letter_line *line,
                             struct err *err) {
    struct json body;
    struct bytes text;
    if (json_get(message, "body_base64", &body))
        return read_base64(body, "body_base64", arena, &line->body, err);
    if (!json_get(message, "body", &body))
        return err_set(err, STATUS_INVALID, "the body is missing");
    line->body = body.text;
    if (envelope_is_json(line->envelope.content_type, body.text)) {
        if (is_text_of_old(line, body, arena, &text))
            line->body = text;
        return STATUS_OK;
    }
    return json_string(body, arena, &line->body)
               ? STATUS_OK
               : err_set(err, STATUS_INVALID, "the body is neither JSON nor a string");
}

static enum status check_body(const struct letter_line *line, struct err *err) {
    if (!line->envelope.content_hash[0] || is_the_body(line, line->body))
        return STATUS_OK;
    return err_set(err, STATUS_INVALID, "the body does not match content_hash: it is damaged");
}

static enum status check_letter(struct json object, struct arena *arena, struct envelope *envelope,
                                struct err *err) {
    struct json id;
    if (!lifecycle_is_letter(envelope->state))
        return err_set(err, STATUS_INVALID, "not a letter: its state is %s",
                       state_text(envelope->state));
    if (!json_get(object, "id", &id) || !json_string(id, arena, &envelope->letter_id) ||
        envelope->letter_id.len == 0 || envelope->letter_id.len > ID_MAX ||
        envelope->id.len > ID_MAX)
        return err_set(err, STATUS_INVALID, "the id is missing or too long");
    if (envelope->dlq.len == 0 || envelope->dead_at.ms == WALL_NEVER.ms)
        return err_set(err, STATUS_INVALID, "dlq or dead_at is missing");
    if (envelope->state == STATE_REPLAYING)
        lifecycle_recall(envelope);
    return STATUS_OK;
}

enum status letter_line_read(struct bytes text, struct arena *arena, struct letter_line *out,
                             struct err *err) {
    struct json object, message, original;
    *out = (struct letter_line){.original = BYTES_NONE};
    if (envelope_decode(text, arena, &out->envelope, err) != STATUS_OK)
        return err ? (err->status = STATUS_INVALID) : STATUS_INVALID;
    json_parse(text, &object, NULL); /* envelope_decode has parsed it before */
    json_get(object, "message", &message);
    enum status status = check_letter(object, arena, &out->envelope, err);
    if (status == STATUS_OK)
        status = read_body(message, arena, out, err);
    if (status == STATUS_OK)
        status = check_body(out, err);
    if (status == STATUS_OK && json_get(object, "original_base64", &original))
        status = read_base64(original, "original_base64", arena, &out->original, err);
    return status;
}
