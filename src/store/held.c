#include "store/held.h"

enum status held_new(uint64_t seq, struct bytes envelope, struct bytes body,
                     const enum state *state, struct store_held **out, struct err *err) {
    struct store_held *held = store_held_new();
    held->seq = seq;
    held->body = arena_dup(&held->arena, body);
    enum status status =
        envelope_restore(arena_dup(&held->arena, envelope), &held->arena, &held->envelope, err);
    if (status != STATUS_OK) {
        store_held_free(held);
        return status;
    }
    if (state)
        held->envelope.state = *state;
    *out = held;
    return STATUS_OK;
}
