/* config_tables: every mapping of impound.yaml, for code that lists all keys. */
#ifndef CONFIG_CONFIG_TABLES_H
#define CONFIG_CONFIG_TABLES_H

#include "config/triage/config_adopt.h"
#include "config/triage/config_alerts.h"
#include "config/queue/config_classify.h"
#include "config/triage/config_dlq.h"
#include "config/queue/config_handler.h"
#include "config/queue/config_policy.h"
#include "config/queue/config_queue.h"
#include "config/queue/config_reply.h"
#include "config/config_server.h"
#include "config/config_telemetry.h"
#include "config/triage/config_triage.h"
#include "config/triage/config_triage_rules.h"
#include "config/queue/config_when.h"

extern const struct config_table config_root_table;

#define CONFIG_TABLES(X)                                                                           \
    X("the top level", config_root_table)                                                          \
    X("server", config_server_table)                                                               \
    X("telemetry", config_telemetry_table)                                                         \
    X("queue", config_queue_table)                                                                 \
    X("handler", config_handler_table)                                                             \
    X("reply", config_reply_table)                                                                 \
    X("classify", config_classify_table)                                                           \
    X("rule", config_rule_table)                                                                   \
    X("when", config_when_table)                                                                   \
    X("answer rule", config_answer_table)                                                          \
    X("when of an answer rule", config_answer_when_table)                                          \
    X("retry", config_retry_table)                                                                 \
    X("breaker", config_breaker_table)                                                             \
    X("flood", config_flood_table)                                                                 \
    X("poison", config_poison_table)                                                               \
    X("dlq", config_dlq_table)                                                                     \
    X("fresh", config_fresh_table)                                                                 \
    X("retention", config_retention_table)                                                         \
    X("triage rule", config_triage_rule_table)                                                     \
    X("when of a triage rule", config_triage_when_table)                                           \
    X("replay", config_replay_table)                                                               \
    X("dlqs", config_dlqs_table)                                                                   \
    X("idempotency", config_idempotency_table)                                                     \
    X("adopt", config_adopt_table)                                                                 \
    X("alerts", config_alerts_table)                                                               \
    X("receiver", config_receiver_table)                                                           \
    X("alert rule", config_alert_rule_table)

#endif
