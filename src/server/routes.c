/* Every call of the API (DESIGN §6). A row without a call is a promise of a later version: it
 * answers 501, and /openapi.json leaves it out. */
#include "server/call.h"
#include "server/route.h"

#define FILTERS                                                                                    \
    "queue dlq state category reason cause error_type fingerprint since until min_attempts key "   \
    "escalated q where limit cursor"

const struct route routes[] = {
    {"POST", "/v1/queues/{queue}/messages", ROUTE_AWAITS, call_push, "push",
     "Push one message, or many as NDJSON; answered once they are durable.", NULL, "Push", "Push",
     "Pushed"},
    {"POST", "/v1/queues/{queue}/failures", ROUTE_AWAITS, call_report, "report",
     "Report a task that failed elsewhere; it is judged by the queue's policy.", NULL, "Report",
     NULL, "Judgement"},
    {"GET", "/v1/queues", ROUTE_WORKER, call_queues_list, "listQueues", "How every queue is.", NULL,
     NULL, NULL, "Queues"},
    {"GET", "/v1/queues/{queue}", ROUTE_WORKER, call_queues_show, "showQueue", "How a queue is.",
     NULL, NULL, NULL, "Queue"},
    {"POST", "/v1/queues/{queue}/pause", ROUTE_AWAITS, call_queues_pause, "pauseQueue",
     "Stop receiving and handing over; survives a restart.", NULL, "Why", NULL, "Queue"},
    {"POST", "/v1/queues/{queue}/resume", ROUTE_AWAITS, call_queues_resume, "resumeQueue",
     "Go on after a pause or a halt.", NULL, "Why", NULL, "Queue"},
    {"GET", "/v1/messages", ROUTE_WORKER, call_messages_list, "listMessages",
     "Messages that impound holds, in any state, newest first.", FILTERS, NULL, NULL, "Messages"},
    {"GET", "/v1/messages/{id}", ROUTE_WORKER, call_messages_show, "showMessage",
     "One message, by its own id or its letter's.", "queue", NULL, NULL, "Envelope"},
    {"GET", "/v1/dlqs", ROUTE_WORKER, call_dlqs_list, "listDlqs", "How every DLQ is.", NULL, NULL,
     NULL, "Dlqs"},
    {"GET", "/v1/dlqs/{dlq}", ROUTE_WORKER, call_dlqs_show, "showDlq", "How a DLQ is.", NULL, NULL,
     NULL, "Dlq"},
    {"GET", "/v1/dlqs/{dlq}/letters", ROUTE_WORKER, call_letters_of_dlq, "listLettersOfDlq",
     "Letters of one DLQ, newest first; unresolved ones unless a state is given.", FILTERS, NULL,
     NULL, "Letters"},
    {"GET", "/v1/letters", ROUTE_WORKER, call_letters_list, "listLetters",
     "Letters, newest first; unresolved ones unless a state is given.", FILTERS, NULL, NULL,
     "Letters"},
    {"GET", "/v1/letters/{id}", ROUTE_WORKER, call_letters_show, "showLetter",
     "The whole envelope of a letter, body and history included.", "queue", NULL, NULL, "Envelope"},
    {"GET", "/v1/letters/{id}/explain", ROUTE_WORKER, call_letters_explain, "explainLetter",
     "Which rule, delay and limits led here.", "queue", NULL, NULL, "Explanation"},
    {"GET", "/v1/stats", ROUTE_WORKER, call_stats, "stats",
     "Rates, depths and counters of all queues and DLQs.", "window", NULL, NULL, "Stats"},
    {"GET", "/v1/events", ROUTE_AT_ONCE, call_events, "events",
     "What happens, as it happens (server-sent events).", NULL, NULL, NULL, "text/event-stream"},
    {"GET", "/metrics", ROUTE_WORKER, call_metrics, "metrics", "Metrics for Prometheus.", NULL,
     NULL, NULL, "text/plain"},
    {"GET", "/healthz", ROUTE_AT_ONCE, call_health, "health", "The process is alive.", NULL, NULL,
     NULL, "Health"},
    {"GET", "/readyz", ROUTE_WORKER, call_ready, "ready",
     "503 only while the store cannot commit; halted queues are listed.", NULL, NULL, NULL,
     "Ready"},
    {"GET", "/openapi.json", ROUTE_AT_ONCE, call_openapi, "openapi", "This description.", NULL,
     NULL, NULL, "application/json"},
    {"GET", "/", ROUTE_AT_ONCE, call_home, "home", "A page that shows how everything is.", NULL, NULL, NULL,
     "text/html"},

#define LATER(verb, template)                                                                      \
    { .method = verb, .path = template }
    LATER("POST", "/v1/queues/{queue}/lease"),
    LATER("POST", "/v1/leases"),
    LATER("POST", "/v1/leases/{lease}/ack"),
    LATER("POST", "/v1/leases/{lease}/fail"),
    LATER("POST", "/v1/leases/{lease}/extend"),
    LATER("GET", "/v1/results/{id}"),
    LATER("GET", "/v1/groups"),
    LATER("PATCH", "/v1/groups/{fingerprint}"),
    LATER("POST", "/v1/letters/resolve"),
    LATER("POST", "/v1/letters/discard"),
    LATER("POST", "/v1/letters/escalate"),
    LATER("POST", "/v1/letters/{id}/resolve"),
    LATER("POST", "/v1/letters/{id}/discard"),
    LATER("POST", "/v1/letters/{id}/escalate"),
    LATER("POST", "/v1/replays"),
    LATER("GET", "/v1/replays"),
    LATER("GET", "/v1/replays/{id}"),
    LATER("POST", "/v1/replays/{id}/pause"),
    LATER("POST", "/v1/replays/{id}/resume"),
    LATER("POST", "/v1/replays/{id}/abort"),
    LATER("POST", "/v1/exports"),
    LATER("POST", "/v1/imports"),
    LATER("GET", "/v1/archives"),
    LATER("GET", "/v1/alerts"),
    LATER("GET", "/v1/audit"),
#undef LATER
};

const size_t route_count = sizeof routes / sizeof *routes;
