/* view_json: queues and DLQs as the API shows them (SEMANTICS 13.2). */
#ifndef SERVER_VIEW_JSON_H
#define SERVER_VIEW_JSON_H

#include "base/json/json.h"
#include "server/server.h"
#include "triage/query/selection.h"

/* Members that many views have. */
void view_json_number(struct json_out *json, const char *key, uint64_t value);
void view_json_time(struct json_out *json, const char *key,
                    struct wall at); /* null for WALL_NEVER */

/* Messages that are held and not dead: queued, waiting for a retry, or in flight. */
uint64_t view_json_depth(const struct engine_queue_view *queue);
/* The reason: "dlq a.dlq is full: 3 messages wait for room". */
void view_json_put_full(const struct engine_queue_view *queue, struct buf *text);
void view_json_queue(struct json_out *json, const struct engine_queue_view *queue);
void view_json_rates(struct json_out *json, const struct engine_rates *rates);
/* The letters that a walk could not read: "behind", "skipped" and "skipped_why", if any. */
void view_json_walked(struct json_out *json, const struct selection_result *walked);

/* A DLQ of the configuration or the store. */
struct view_json_dlq {
    struct bytes name;
    bool configured, used;
    struct live_config_dlq config; /* while configured */
    struct letters_dlq store;      /* zero until it has a letter */
    struct triage_rules_totals triage;
};

/* False if there is no such DLQ. Lives in the arena. */
bool view_json_dlq_find(const struct server_options *options, struct bytes name, struct wall now,
                        struct arena *arena, struct view_json_dlq *out);
/* True for a DLQ that is not configured and has no letters any more, such as the DLQ of a renamed
 * queue. It is not listed. */
bool view_json_dlq_is_over(const struct view_json_dlq *dlq);
/* The configured DLQs first, then those that only the store has. */
size_t view_json_dlq_names(const struct server_options *options, struct arena *arena,
                           struct bytes **out);
double view_json_dlq_age_seconds(const struct view_json_dlq *dlq,
                                 struct wall now); /* 0: it is empty */
/* "by_state": the number of letters in each state that a letter can have. */
void view_json_dlq_states(struct json_out *json, const struct view_json_dlq *dlq);
void view_json_dlq(struct json_out *json, const struct server_options *options,
                   const struct view_json_dlq *dlq, struct wall now);
/* "auto_fixed_percent" and "escalated_percent" of `arrivals`; null if there were none. */
void view_json_triage_shares(struct json_out *json, const struct triage_rules_totals *totals,
                             uint64_t arrivals);

#endif
