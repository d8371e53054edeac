/* group_sample: finds a readable letter of a group, as the example of its failure. */
#include <inttypes.h>
#include <stdio.h>

#include "base/json/json.h"
#include "triage/groups/group.h"

enum {
    SAMPLE_ARENA_CHUNK = 64 * 1024,
    SAMPLE_ROWS = 16, /* letters tried until one is readable */
    NUMBER_SIZE = 24,
};

static bool is_damage(enum status status) {
    return status == STATUS_CORRUPT || status == STATUS_IO;
}

/* By its id, or its sequence number if the id cannot be read either. */
static void name_damaged(struct buf *out, struct bytes id, uint64_t seq) {
    char number[NUMBER_SIZE];
    if (!out)
        return;
    struct json_out json = json_out(out);
    if (out->len > 0)
        buf_char(out, ',');
    snprintf(number, sizeof number, "%" PRIu64, seq);
    json_put(&json, id.len > 0 ? id : bytes_of(number));
}

/* The envelope of a letter from its row, which is readable even if the body is damaged. NULL: not.
 */
static struct message *row_sample(const struct letters_row *row) {
    struct message *held = message_new();
    held->seq = row->seq;
    if (row->envelope.ptr && envelope_restore(arena_dup(&held->arena, row->envelope), &held->arena,
                                              &held->envelope, NULL) == STATUS_OK)
        return held;
    message_free(held);
    return NULL;
}

/* The newest readable letter that the query finds. `bad`: number of a letter known to be damaged.
 */
static enum status newest(struct store *store, const struct letters_query *query, uint64_t bad,
                          struct message **out, struct buf *damaged, struct err *err) {
    struct letters_page page;
    struct arena arena;
    arena_init_heap(&arena, SAMPLE_ARENA_CHUNK);
    enum status status = letters_list(store->letters, query, &arena, &page, err);
    for (size_t i = 0; status == STATUS_OK && i < page.count && !*out; i++) {
        const struct letters_row *row = &page.rows[i];
        *out = row_sample(row);
        if (!*out)
            name_damaged(damaged, row->id, row->seq);
        else if (row->seq == bad)
            name_damaged(damaged, (*out)->envelope.letter_id, row->seq);
    }
    arena_free(&arena);
    if (is_damage(status) || (status == STATUS_OK && !*out))
        status = err_set(err, STATUS_NOT_FOUND, "no letter of the group can be read");
    return status;
}

enum status group_sample(struct store *store, const struct group *group, struct message **out,
                         struct buf *damaged, struct err *err) {
    struct letters_query query = {.letters = true,
                                  .has_fingerprint = true,
                                  .fingerprint = group->fingerprint,
                                  .limit = SAMPLE_ROWS};
    enum status status = letters_get_seq(store->letters, group->sample, out, err);
    if (is_damage(status)) {
        *out = NULL;
        return newest(store, &query, group->sample, out, damaged, err);
    }
    query.states = 1u << STATE_PENDING_REVIEW | 1u << STATE_REPLAYING;
    if (status != STATUS_NOT_FOUND || group->count == 0)
        return status;
    *out = NULL;
    return newest(store, &query, 0, out, damaged, err);
}
