/* replay_order: defaults, and parsing of rates. */
#include "triage/replay/replay_order.h"

#include "core/comeback.h"

enum { CANARY_FIRST = 1, CANARY_SECOND = 10, DECIMALS_MAX = 6 };

void replay_order_init(struct replay_order *order) {
    *order = (struct replay_order){.rate = {REPLAY_RATE_FIXED, REPLAY_RATE_DEFAULT},
                                   .canary = {CANARY_FIRST, CANARY_SECOND},
                                   .canary_count = 2,
                                   .guarded = true,
                                   .ramp = true};
    selection_init(&order->selection);
}

bool replay_order_to_origin(const struct replay_order *order) {
    return bytes_is(order->to, COMEBACK_ORIGIN);
}

struct bytes replay_order_queue(const struct replay_order *order, struct bytes own) {
    return order->to.len > 0 && !replay_order_to_origin(order) ? order->to : own;
}

/* Digits with an optional fraction; nothing else that strtod accepts. */
static bool parse_decimal(struct bytes text, double *out) {
    size_t dot = bytes_find(text, BYTES("."));
    struct bytes fraction = bytes_cut(text, dot + 1, text.len);
    uint64_t whole, part = 0;
    if (!bytes_u64(bytes_cut(text, 0, dot), &whole))
        return false;
    if (dot < text.len && (fraction.len > DECIMALS_MAX || !bytes_u64(fraction, &part)))
        return false;
    double scale = 1;
    for (size_t i = 0; i < fraction.len; i++)
        scale *= 10;
    *out = (double)whole + (double)part / scale;
    return true;
}

bool replay_rate_parse(struct bytes text, struct replay_rate *out) {
    double value;
    if (bytes_is(text, "max")) {
        *out = (struct replay_rate){REPLAY_RATE_UNLIMITED, 0};
        return true;
    }
    bool share = bytes_ends(text, BYTES("%"));
    if (!share && !bytes_ends(text, BYTES("/s")))
        return false;
    struct bytes number = bytes_cut(text, 0, text.len - (share ? 1 : 2));
    if (!parse_decimal(number, &value) || value <= 0 || value > (share ? 100 : REPLAY_RATE_MAX))
        return false;
    *out = (struct replay_rate){share ? REPLAY_RATE_SHARE : REPLAY_RATE_FIXED, value};
    return true;
}

void replay_rate_put(const struct replay_rate *rate, struct buf *out) {
    if (rate->kind == REPLAY_RATE_UNLIMITED)
        buf_str(out, "max");
    else
        buf_printf(out, "%.10g%s", rate->value, rate->kind == REPLAY_RATE_SHARE ? "%" : "/s");
}
