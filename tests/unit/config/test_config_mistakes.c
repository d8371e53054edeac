/* Mistakes and their places. A ^ in the YAML is not part of it: it marks where the next mistake is
 * to be found. */
#include "test.h"

#include <stdio.h>

#include "config/config.h"

struct mistake_case {
    const char *yaml;
    const char *expected; /* a line for each ^ */
};

#define HTTP         "handler: {http: \"http://h/\"}"
/* The snippet stands in a queue that is otherwise good. */
#define Q(snippet)   "queues:\n  q:\n    " HTTP "\n    " snippet "\n"
/* The snippet stands beside queues that are good. */
#define TOP(snippet) snippet "\nqueues: {q: {" HTTP "}}\n"

#define DURATION "expected a duration such as 200ms, 10s, 5m, 24h or 30d, got "
#define URL      "expected a URL such as http://127.0.0.1:8080/orders, got "
#define LISTEN   "listen: expected host:port such as 127.0.0.1:7070 or [::1]:7070, got "
#define NAMES    "is 1 to 200 letters, digits, dots, underscores and hyphens, got "
#define DLQ_NAMES                                                                                  \
    "the name of a DLQ is 1 to 204 letters, digits, dots, underscores and hyphens, got "
#define STREAM_ONLY "only an exec handler with mode: stream has it"
#define HANDLER     "expected {http: URL}, {exec: [COMMAND]} or lease"

/* ---- the file as a whole ---- */

static const struct mistake_case file_cases[] = {
    {"^", "the file is empty: expected a mapping with \"queues\""},
    {"^# nothing\n", "the file is empty: expected a mapping with \"queues\""},
    {"^>0|", "this is not YAML"},
    {"^- a\n", "expected a mapping with \"queues\" at the top"},
    {"^hello\n", "expected a mapping with \"queues\" at the top"},
    {"^store: sqlite:a.db\n", "there is no \"queues\": expected a mapping of queues by name"},
    {"queues: ^{}\n",
     "queues: expected a mapping of 1 to 10000 queues by name, got an empty mapping"},
    {"queues: {^q: }\n", "q: expected a mapping, got nothing"},
    {"queues: ^[q]\n", "queues: expected a mapping of 1 to 10000 queues by name, got a list"},
    {"queues: ^~\n", "queues: expected a mapping of 1 to 10000 queues by name, got nothing"},
    {TOP("^queue: 1"), "unknown key \"queue\" in the top level. Did you mean \"queues\"?"},
    {TOP("store: sqlite:a\n^store: sqlite:b"),
     "duplicate key \"store\": it stands already at line 1"},
    {TOP("adopt: ^3"), "adopt: expected a list of at most 100 entries such as {name: legacy, "
                       "source: URL}, got \"3\""},
    {TOP("adopt: [^{name: legacy}]"), "adopt[0] has no source"},
#ifdef IMPOUND_REDIS
    {TOP("adopt: [{source: \"redis://h/0?list=a\"}, ^{source: \"redis://i/0?list=a\"}]"),
     "a second entry named \"a\" in adopt: give it a name of its own"},
    {TOP("adopt: [{name: ^a/b, source: \"redis://h/0?list=a\"}]"),
     "the name of a place in adopt " NAMES "\"a/b\""},
    {TOP("adopt: [{name: a, source: ^builtin}]"),
     "source: expected a URL such as amqp://127.0.0.1/?queue=orders-dlq, got \"builtin\""},
    {TOP("adopt: [{name: a, source: ^\"https://me:s3cret@h/?queue=q\"}]"),
     "source: expected a URL such as amqp://127.0.0.1/?queue=orders-dlq, got "
     "\"https://***@h/?queue=q\""},
    {TOP("adopt: [{name: a, source: ^\"sqs://eu/orders\"}]"),
     "source sqs:// is not in this version"},
    {TOP("adopt: [{name: a, source: ^\"kafak://u:secret@h/dead\"}]"),
     "source: this URL is not right: there is no kafak://; did you mean kafka://?"},
    {TOP("adopt: [{name: a, source: \"redis://h/0?list=a\", queue: ^\"a\\tb\"}]"),
     "queue: expected the name of a queue, at most 200 bytes, got \"a b\""},
#ifdef IMPOUND_KAFKA
    {TOP("adopt: [{name: a, mode: take, source: ^\"kafka://h/dead\"}]"),
     "source: this URL is not right: it names no group, such as ?group=pricing"},
#endif
#ifdef IMPOUND_REDIS
    {TOP("adopt: [{name: a, source: ^\"redis://h/0?stream=a\", mode: take}]"),
     "source: this URL is not right: a stream and a group go together: ?stream=NAME&group=NAME"},
#endif
#ifdef IMPOUND_NATS
    {TOP("adopt: [{name: a, source: ^\"nats://h?stream=a\", mode: take}]"),
     "source: this URL is not right: expected ?stream=NAME&consumer=NAME"},
#endif
    {TOP("adopt: [{name: a, source: \"redis://h/0?list=a\", mode: ^steal}]"),
     "mode: expected peek or take, got \"steal\""},
    {TOP("adopt:\n- {name: a, source: \"redis://h/0?list=a\"}\n"
         "- ^{name: a, source: \"redis://h/0?list=b\"}"),
     "a second entry named \"a\" in adopt: give it a name of its own"},
    {TOP("adopt: [{name: a, ^queues: b, source: \"redis://h/0?list=a\"}]"),
     "unknown key \"queues\" in adopt[0] of the top level. Did you mean \"queue\"?"},
    {TOP("adopt: [{name: a, source: \"redis://h/0?list=a\"}]\n"
         "dlqs: {a.dlq: {on_full: ^spill}}"),
     "on_full: spill needs an archive for DLQ \"a.dlq\", such as archive: \"file:archive/\""},
#endif
    {TOP("alerts: {to: [{name: pager, pagerduty: ^\"${NOT_SET}\"}]}"),
     "pagerduty: the environment has no ${NOT_SET}; set it, or write \"$${\" for a plain \"${\""},
    {TOP("alerts: {to: [^{name: chat}]}"),
     "to[0]: expected one of slack, pagerduty, alertmanager and webhook"},
    {TOP("alerts: {to: [^{slack: \"http://127.0.0.1/x\"}]}"), "to[0] has no name"},
    {TOP("alerts: {to: [{name: chat, slack: ^nowhere}]}"),
     "slack: expected a URL such as https://example.org/hook, got \"nowhere\""},
    {TOP("alerts: {rules: [^{name: Deep, metric: dlq_depth}]}"),
     "rules[0]: expected either above or below"},
    {TOP("alerts: {rules: [{name: Deep, metric: dlq_depth, above: ^many}]}"),
     "above: expected a limit such as 100, 0.95, 24h, 10/min or 97%, got \"many\""},
    {TOP("alerts: {rules: [{name: Deep, metric: dlq_depth, above: ^24h}]}"),
     "above: expected a number such as 100, got \"24h\""},
    {TOP("alerts: {rules: [{name: Old, metric: dlq_oldest_age_seconds, above: ^10/min}]}"),
     "above: expected a duration such as 24h, or seconds, got \"10/min\""},
    {TOP("alerts: {rules: [{name: Fast, metric: dlq_arrivals_per_minute, above: ^97%}]}"),
     "above: expected a rate such as 10/min, or a number a minute, got \"97%\""},
    {TOP("alerts: {rules: [{name: Bad, metric: success_ratio, below: ^10s}]}"),
     "below: expected a share such as 97%, or 0.97, got \"10s\""},
    {TOP("alerts: {rules: [{name: Deep, metric: ^dlq_deep, above: 1}]}"),
     "metric: expected dlq_depth, dlq_arrivals_per_minute, dlq_oldest_age_seconds, "
     "dlq_cap_ratio, queue_lag, breaker_open_seconds, success_ratio, queue_stalled_seconds or "
     "source_unreachable_seconds, got \"dlq_deep\". Did you "
     "mean \"dlq_depth\"?"},
    {TOP("alerts: {rules: [{name: Late, metric: queue_lag, ^dlq: \"*\", above: 1}]}"),
     "dlq: queue_lag is measured for each queue"},
    {TOP("alerts: {rules: ^[{name: Deep, metric: dlq_depth, above: 1, to: [me]}]}"),
     "rule \"Deep\" tells \"me\", but there is no such receiver in to"},
    {TOP("store: sqlite:a\n? ^[a, b]\n: 1"), "a key must be a plain word"},
    {"queues: {q: {" HTTP ", dlq: {route: {bug: q.bug, : ^q.crash}}}}\n",
     "route: expected a category before the colon"},
    {TOP("store: ^*nowhere"), "no anchor \"nowhere\" stands before this alias"},
    {"store: sqlite:a\n^queues: \xff\n", "this line is not UTF-8"},
    {"queues: {q: {" HTTP "}}\n^---\nqueues: {}\n", "a second document begins here: expected one"},
};

/* ---- server and store ---- */

static const struct mistake_case server_cases[] = {
    {TOP("server: ^here"), "server: expected a mapping, got \"here\""},
    {TOP("server: {^listn: 1}"), "unknown key \"listn\" in server. Did you mean \"listen\"?"},
    {TOP("server: {listen: ^7070}"), LISTEN "\"7070\""},
    {TOP("server: {listen: ^127.0.0.1}"), LISTEN "\"127.0.0.1\""},
    {TOP("server: {listen: ^\"127.0.0.1:x\"}"), LISTEN "\"127.0.0.1:x\""},
    {TOP("server: {listen: ^\"127.0.0.1:65536\"}"), LISTEN "\"127.0.0.1:65536\""},
    {TOP("server: {listen: ^\"::1:7070\"}"), LISTEN "\"::1:7070\""},
    {TOP("server: {listen: ^\"[zz]:7070\"}"), LISTEN "\"[zz]:7070\""},
    {TOP("server: {listen: ^\":7070\"}"), LISTEN "\":7070\""},
    {TOP("server: {listen: ^[a]}"), LISTEN "a list"},
    {TOP("server: {listen: ^0.0.0.0:7070}"),
     "listen: \"0.0.0.0\" can be reached from other machines, and there are no tokens in this "
     "version. Write auth: none beside it to allow that"},
    {TOP("server: {listen: ^\"[::]:7070\"}"),
     "listen: \"::\" can be reached from other machines, and there are no tokens in this "
     "version. Write auth: none beside it to allow that"},
    {TOP("server: {listen: ^example.org:80}"),
     "listen: \"example.org\" can be reached from other machines, and there are no tokens in this "
     "version. Write auth: none beside it to allow that"},
    {TOP("server: {auth: ^tokens}"), "auth \"tokens\" is not in this version"},
    {TOP("server: {^tokens: [t1]}"), "tokens is not in this version"},
    {TOP("server: {^roles: {}}"), "roles is not in this version"},
    {TOP("server: {^encryption: on}"), "encryption is not in this version"},
    {TOP("server: {^redaction: [.card]}"), "redaction is not in this version"},
    {TOP("server: {auth: ^{}}"), "auth: expected none, got an empty mapping"},
    {TOP("server: {max_body: ^4MB}"),
     "max_body: expected a size such as 512, 64KiB, 4MiB or 1GiB, got \"4MB\""},
    {TOP("server: {max_body: ^0}"), "max_body: expected 1 to 1GiB, got \"0\""},
    {TOP("server: {drain: ^10}"), "drain: " DURATION "\"10\""},
    {TOP("server: {drain: ^2h}"), "drain: expected 0ms to 1h, got \"2h\""},
    {TOP("server: {jq_timeout: ^0ms}"), "jq_timeout: expected 1ms to 1m, got \"0ms\""},
    {TOP("server: {log: ^yaml}"), "log: expected text or json, got \"yaml\""},
    {TOP("server: {log_level: ^loud}"),
     "log_level: expected debug, info, warn or error, got \"loud\""},
    {TOP("server: {telemetry: ^on}"), "telemetry: expected {otlp: URL} or off, got \"on\""},
    {TOP("server: {telemetry: {^oltp: a}}"),
     "unknown key \"oltp\" in telemetry of server. Did you mean \"otlp\"?"},
#ifdef IMPOUND_OTLP
    {TOP("server: {telemetry: {otlp: ^collector:4317}}"),
     "otlp: expected a URL such as http://127.0.0.1:4318, got \"collector:4317\""},
    {TOP("server: {telemetry: {otlp: \"http://h\", sample: ^half}}"),
     "sample: expected a share from 0% to 100%, such as 20%, got \"half\""},
    {TOP("server: {telemetry: {otlp: \"http://h\", service: ^\"a\\nb\"}}"),
     "service: expected a name of at most 255 printable bytes, got \"a b\""},
#else
    {TOP("server: {telemetry: {otlp: ^\"http://h\"}}"),
     "otlp is not in this build, which has no protobuf-c"},
#endif
    {TOP("store: ^postgresql://u@h/db"), "a postgresql store is not in this version"},
    {TOP("store: ^impound.db"),
     "store: expected sqlite:PATH such as sqlite:impound.db, got \"impound.db\""},
    {TOP("store: ^\"sqlite:\""),
     "store: expected sqlite:PATH such as sqlite:impound.db, got \"sqlite:\""},
};

/* ---- queues and handlers ---- */

static const struct mistake_case queue_cases[] = {
    {Q("^conccurency: 3"),
     "unknown key \"conccurency\" in queue \"q\". Did you mean \"concurrency\"?"},
    {Q("concurrency: ^0"), "concurrency: expected 1 to 10000, got \"0\""},
    {Q("concurrency: ^many"), "concurrency: expected a whole number, got \"many\""},
    {Q("concurrency: ^-1"), "concurrency: expected a whole number, got \"-1\""},
    {Q("concurrency: ^[1]"), "concurrency: expected a whole number, got a list"},
    {Q("^" HTTP), "duplicate key \"handler\": it stands already at line 3"},
#ifndef IMPOUND_KAFKA
    {Q("source: ^kafka://b1:9092/orders?group=g"),
     "source kafka:// is not in this build, which has no librdkafka"},
#endif
#ifdef IMPOUND_REDIS
    {Q("source: ^\"redis://h/0?lst=q\""),
     "source: this URL is not right: unknown parameter \"lst\": "
     "there are list, stream, zset, asynq, group, id, idle, ca"},
#endif
#ifndef IMPOUND_NATS
    {Q("source: ^nats://h?stream=S"), "source nats:// is not in this build, which has no libnats"},
#endif
    {Q("source: ^sqs://region/queue"), "source sqs:// is not in this version"},
    {Q("source: ^pubsub://p/s"), "source pubsub:// is not in this version"},
    {Q("^encryption: on"), "encryption is not in this version"},
    {Q("^redaction: [.card]"), "redaction is not in this version"},
    {Q("source: ^embedded"), "source: expected builtin, or a URL such as "
                             "redis://127.0.0.1/0?list=orders, got \"embedded\""},
    {Q("idempotency: ^.id"),
     "idempotency: expected a mapping such as {key: .order_id, dedupe: 24h}, got \".id\""},
    {Q("^idempotency: {dedupe: 1h}"),
     "idempotency: expected one of key (a path into the body) and header"},
    {Q("^idempotency: {key: .id, header: X-Id}"),
     "idempotency: expected one of key (a path into the body) and header"},
    {Q("idempotency: {key: ^order_id}"),
     "key: it is no path from character 1 on; a path is like .order_id, .\"x y\".id or "
     ".lines[0].sku"},
    {Q("idempotency: {key: .id, dedupe: ^0}"), "dedupe: expected 1ms to 3650d, got \"0\""},
    {Q("order: ^strict"), "order: expected none or key, got \"strict\""},
    {Q("^on_dead: continue"), "on_dead: it is for queues with order: key"},
    {Q("order: key\n    on_dead: ^wait"), "on_dead: expected close or continue, got \"wait\""},
    {Q("^blocked_limit: 10"), "blocked_limit: it is for queues with order: key"},
    {Q("replay: {max_lag: ^many}"), "max_lag: expected a whole number, got \"many\""},
    {Q("compensate: ^lease"),
     "compensate: expected {http: URL} or {exec: [COMMAND]}, got \"lease\""},
    {Q("^compensate: {http: \"http://h/\", batch: 5}"),
     "compensate: it has neither batch nor reply"},
    {"queues:\n  ^q: {concurrency: 1}\n", "queue \"q\" has no handler: " HANDLER},
    {"queues:\n  ^a b: {" HTTP "}\n", "the name of a queue " NAMES "\"a b\""},
    {"queues:\n  ^\"\": {" HTTP "}\n", "the name of a queue " NAMES "\"\""},
    {"queues:\n  ^origin: {" HTTP "}\n",
     "a queue cannot be called \"origin\": a replay `to: origin` means where a letter came from; "
     "choose another name"},
    {"queues:\n  ^a/b: {" HTTP "}\n", "the name of a queue " NAMES "\"a/b\""},
    {"queues:\n  q: ^3\n", "q: expected a mapping, got \"3\""},
};

#define REPLY "expected {store: 24h}, or a URL such as redis://127.0.0.1/0?key=result:{id}, got "

static const struct mistake_case handler_cases[] = {
    {"queues: {q: {handler: {lease: ^5s}}}\n", "lease: expected {}, got \"5s\""},
    {"queues: {q: {handler: {http: \"http://h\", ^lease: {}}}}\n",
     "a handler is http or lease, not both"},
    {"queues: {q: {handler: {lease: {}, ^timeout: 1s}}}\n",
     "timeout: a worker that leases says for how long itself"},
    {"queues: {q: {handler: ^leases}}\n", "handler: " HANDLER ", got \"leases\""},
    {"queues: {q: {handler: lease, ^fallback: [{http: \"http://h\"}]}}\n",
     "fallback: a queue whose workers lease has none"},
    {"queues: {q: {handler: {http: \"http://h\"}, fallback: [^lease]}}\n",
     "fallback[0]: expected {http: URL} or {exec: [COMMAND]}, got \"lease\""},
    {"queues: {q: {handler: ^http}}\n", "handler: " HANDLER ", got \"http\""},
    {"queues: {q: {handler: ^[a]}}\n", "handler: " HANDLER ", got a list"},
    {"queues: {q: {handler: ^{timeout: 1s}}}\n", "handler: " HANDLER},
    {"queues: {q: {handler: {http: \"http://h\", ^exec: [a]}}}\n",
     "a handler is http or exec, not both"},
    {"queues: {q: {handler: {http: ^\"ftp://h/\"}}}\n", "http: " URL "\"ftp://h/\""},
    {"queues: {q: {handler: {http: ^\"http://\"}}}\n", "http: " URL "\"http://\""},
    {"queues: {q: {handler: {http: ^\"http:///path\"}}}\n", "http: " URL "\"http:///path\""},
    {"queues: {q: {handler: {http: ^\"http://h:0/\"}}}\n", "http: " URL "\"http://h:0/\""},
    {"queues: {q: {handler: {http: ^\"http://h/a b\"}}}\n", "http: " URL "\"http://h/a b\""},
    {"queues: {q: {handler: {http: ^{}}}}\n", "http: " URL "an empty mapping"},
    {"queues: {q: {handler: {exec: ^./price}}}\n",
     "exec: expected a list of words, got \"./price\". Write exec: [\"./price\"]"},
    {"queues: {q: {handler: {exec: ^./price  --fast 7 }}}\n",
     "exec: expected a list of words, got \"./price  --fast 7\". Write exec: [\"./price\", "
     "\"--fast\", \"7\"]"},
    {"queues: {q: {handler: {exec: ^[]}}}\n",
     "exec: expected a list of 1 to 64 words such as [\"./price\", \"--fast\"], got an empty list"},
    {"queues: {q: {handler: {exec: [a, ^[b]]}}}\n", "exec[1]: expected a word, got a list"},
    {"queues: {q: {handler: {exec: [a, ^\"b\\0c\"]}}}\n",
     "exec[1]: a zero byte is not allowed here"},
    {"queues: {q: {handler: {exec: [a], ^headers: {a: b}, ^ca: x.pem}}}\n",
     "headers: only an http handler has it\nca: only an http handler has it"},
    {"queues: {q: {handler: {http: \"http://h\", timeout: ^0}}}\n",
     "timeout: expected 1ms to 24h, got \"0\""},
    {"queues: {q: {handler: {http: \"http://h\", headers: {a: \"{id}\", b: ^\"x-{uuid}\"}}}}\n",
     "b: {uuid} is neither {id} nor {key}; write {{uuid}} for the text itself"},
    {"queues: {q: {handler: {http: \"http://h\", batch: 2, ^headers: {a: \"{id}\"}}}}\n",
     "headers: the messages of a batch have no {id} and {key} in common"},
    {"queues: {q: {handler: {http: \"http://h\", headers: {^a b: c}}}}\n",
     "\"a b\" is not the name of an HTTP header"},
    {"queues: {q: {handler: {http: \"http://h\", headers: {a: ^\"b\\r\\nc: d\"}}}}\n",
     "a: expected a header's value on one line, got \"b  c: d\""},
    {"queues: {q: {handler: {http: \"http://h\", headers: ^none}}}\n",
     "headers: expected a mapping such as {x-api-key: \"${KEY}\"}, got \"none\""},
    {"queues: {q: {handler: {http: \"http://h\", ^mode: stream, ^workers: 2, ^max_messages: 5}}}\n",
     "mode: only an exec handler has it\nworkers: " STREAM_ONLY "\nmax_messages: " STREAM_ONLY},
    {"queues: {q: {handler: {exec: [a], ^workers: 2, ^batch: 3}}}\n",
     "workers: " STREAM_ONLY
     "\nbatch: only an http handler, or an exec handler with mode: stream, has it"},
    {"queues: {q: {handler: {exec: [a], mode: ^fast}}}\n",
     "mode: expected process or stream, got \"fast\""},
    {"queues: {q: {handler: {exec: [a], mode: stream, workers: ^0}}}\n",
     "workers: expected 1 to 1000, got \"0\""},
    {"queues: {q: {handler: {http: \"http://h\", batch: ^1001}}}\n",
     "batch: expected 1 to 1000, got \"1001\""},
    {"queues: {q: {handler: {http: \"http://h\", batch: 2, ^reply: {store: 1h}}}}\n",
     "reply: the messages of a batch have no answers of their own"},
    {"queues: {q: {handler: {http: \"http://h\", ^timeuot: 1s}}}\n",
     "unknown key \"timeuot\" in handler of queue \"q\". Did you mean \"timeout\"?"},
    {Q("fallback: ^{http: \"http://h\"}"),
     "fallback: expected a list of at most 8 handlers, got a mapping"},
    {Q("fallback: [{http: \"http://h\", edit: ^[a]}]"), "edit: expected a text, got a list"},
    {"queues: {q: {handler: {http: \"http://h\", reply: ^{}}}}\n",
     "reply: " REPLY "an empty mapping"},
    {"queues: {q: {handler: {http: \"http://h\", reply: ^24h}}}\n", "reply: " REPLY "\"24h\""},
    {"queues: {q: {handler: {http: \"http://h\", reply: {store: ^0}}}}\n",
     "store: expected 1s to 366d, got \"0\""},
    {"queues: {q: {handler: {http: \"http://h\", reply: {store: 1h, ^ttl: 1h}}}}\n",
     "unknown key \"ttl\" in reply of handler of queue \"q\": expected store"},
    {"queues: {q: {handler: {http: \"http://h\", reply: ^\"sqs://r/q\"}}}\n",
     "reply to sqs:// is not in this version"},
#ifdef IMPOUND_REDIS
    {"queues: {q: {handler: {http: \"http://h\", reply: ^\"redis://h/0?key=all\"}}}\n",
     "reply: this URL is not right: key: expected a key with {id} in it, such as "
     "result:{id}, got \"all\""},
#else
    {"queues: {q: {handler: {http: \"http://h\", reply: ^\"redis://h/0?key={id}\"}}}\n",
     "reply to redis:// is not in this build, which has no hiredis"},
#endif
    {Q("fallback: [^{}]"), "fallback[0]: " HANDLER},
};

/* ---- classify ---- */

#define RULE(snippet) Q("classify: {rules: [" snippet "]}")
#define WHEN(snippet) RULE("{when: {" snippet "}, do: dlq}")
#define STATUS        "expected a status such as 429 or 5xx, or a list of them, got "

static const struct mistake_case classify_cases[] = {
    {Q("classify: {presets: ^http}"),
     "presets: expected a list such as [http, errors], got \"http\""},
    {Q("classify: {presets: [^htpp]}"),
     "presets[0]: expected http, exec, errors or ai-api, got \"htpp\". Did you mean \"http\"?"},
    {Q("classify: {presets: [http, ^http]}"),
     "presets[1]: expected each preset once, got \"http\""},
    {Q("classify: {^rule: []}"),
     "unknown key \"rule\" in classify of queue \"q\". Did you mean \"rules\"?"},
    {Q("classify: {rules: ^{}}"),
     "rules: expected a list of at most 128 rules, got an empty mapping"},
    {RULE("^3"), "rules[0]: expected a mapping, got \"3\""},
    {RULE("^{do: dlq}"), "rule q.rules[0] has no \"when\". Write when: {} to match every failure"},
    {RULE("^{when: {}}"),
     "rule q.rules[0] has no \"do\": expected retry, fallback, dlq, discard or halt"},
    {RULE("{when: {}, do: ^drop}"),
     "do: expected retry, fallback, dlq, discard or halt, got \"drop\""},
    {RULE("{when: {}, do: dlq}, {when: {}, do: dlq, ^categry: x}"),
     "unknown key \"categry\" in rule q.rules[1]. Did you mean \"category\"?"},
    {RULE("{when: {}, do: dlq, category: ^\"\"}"), "category: expected a text, got \"\""},
    {RULE("{when: {}, do: dlq, dlq: ^\"a b\"}"), DLQ_NAMES "\"a b\""},
    {WHEN("^stauts: 3"),
     "unknown key \"stauts\" in when of rule q.rules[0]. Did you mean \"status\"?"},
    {WHEN("status: ^6xx"), "status: " STATUS "\"6xx\""},
    {WHEN("status: ^99"), "status: " STATUS "\"99\""},
    {WHEN("status: [502, ^abc]"), "status[1]: " STATUS "\"abc\""},
    {WHEN("status: ^[]"), "status: expected at least one item, got an empty list"},
    {WHEN("kind: ^timeuot"), "kind: expected timeout, refused, reset, dns, tls, status, exit, "
                             "signal, expired, reported, edit "
                             "or answer, "
                             "got \"timeuot\". Did you mean \"timeout\"?"},
    {WHEN("exit_code: ^256"),
     "exit_code: expected an exit code from 1 to 255, or a list of them, got \"256\""},
    {WHEN("exit_code: ^0"),
     "exit_code: expected an exit code from 1 to 255, or a list of them, got \"0\""},
    {WHEN("signal: ^SIGNOPE"), "signal: expected a signal such as SIGSEGV or 11, got \"SIGNOPE\""},
    {WHEN("signal: ^0"), "signal: expected a signal such as SIGSEGV or 11, got \"0\""},
    {WHEN("attempt: ^4-2"),
     "attempt: expected an attempt such as 1, or a range such as 2-4, got \"4-2\""},
    {WHEN("attempt: ^0"),
     "attempt: expected an attempt such as 1, or a range such as 2-4, got \"0\""},
    {WHEN("message: ^\"a(b\""),
     "message: \"a(b\" is not a regular expression: missing closing parenthesis at offset 3"},
    {WHEN("header: ^{a: b, c: d}"), "header: expected one header, {name: pattern}, got a mapping"},
    {WHEN("header: ^[a]"), "header: expected a header's name, or {name: pattern}, got a list"},
    {WHEN("jq: ^{}"), "jq: expected a text, got an empty mapping"},
};

/* ---- retry, breaker, poison ---- */

static const struct mistake_case policy_cases[] = {
    {Q("retry: {base: ^ten}"), "base: " DURATION "\"ten\""},
    {Q("retry: {base: ^-1s}"), "base: " DURATION "\"-1s\""},
    {Q("retry: {base: ^0}"), "base: expected 1ms to 30d, got \"0\""},
    {Q("retry: {base: ^~}"), "base: " DURATION "nothing"},
    {Q("retry: {base: ^2s, cap: 1s}"), "base: 2s is longer than the cap, 1s"},
    {Q("retry: {attempts: ^0}"), "attempts: expected 1 to 1000, got \"0\""},
    {Q("retry: {jitter: ^ful}"),
     "jitter: expected full, equal, decorrelated or none, got \"ful\". Did you mean \"full\"?"},
    {Q("retry: {backoff: ^linear}"), "backoff: expected exponential or fixed, got \"linear\""},
    {Q("retry: {backoff: fixed, ^delays: [1s]}"),
     "delays: they stand in place of backoff; write one of the two"},
    {Q("retry: {delays: ^[]}"),
     "delays: expected a list of 1 to 32 delays such as [1s, 5s], got an empty list"},
    {Q("retry: {delays: [1s, ^5]}"), "delays[1]: " DURATION "\"5\""},
    {Q("retry: {budget: ^20}"),
     "budget: expected off, or a share from 0% to 100%, such as 20%, got \"20\""},
    {Q("retry: {budget: ^101%}"),
     "budget: expected off, or a share from 0% to 100%, such as 20%, got \"101%\""},
    {Q("retry: {budget_floor: ^1000001/s}"),
     "budget_floor: expected 0/s to 1000000/s, got \"1000001/s\""},
    {Q("retry: {budget_floor: ^off}"),
     "budget_floor: expected a rate such as 3/s or 0.5/s, got \"off\""},
    {Q("retry: {budget_floor: ^3}"),
     "budget_floor: expected a rate such as 3/s or 0.5/s, got \"3\""},
    {Q("retry: {^max_attempts: 3}"),
     "unknown key \"max_attempts\" in retry of queue \"q\": expected attempts, base, cap, jitter, "
     "backoff, delays, max_age, retry_after_cap, budget or budget_floor"},
    {Q("breaker: ^on"),
     "breaker: expected off, or a mapping such as {failure_rate: 50%}, got \"on\""},
    {Q("breaker: {failure_rate: ^0%}"),
     "failure_rate: expected a share above 0% and up to 100%, such as 50%, got \"0%\""},
    {Q("breaker: {window: ^1ms}"), "window: expected 100ms to 1h, got \"1ms\""},
    {Q("breaker: {min_attempts: ^0}"), "min_attempts: expected 1 to 1000000, got \"0\""},
    {Q("breaker: {^treshold: 5}"), "unknown key \"treshold\" in breaker of queue \"q\": expected "
                                   "failure_rate, window, min_attempts, consecutive or open"},
    {Q("flood: {share: ^0%}"),
     "share: expected a share above 0% and up to 100%, such as 50%, got \"0%\""},
    {Q("flood: ^on"), "flood: expected off, or a mapping such as {then: hold}, got \"on\""},
    {Q("flood: {window: ^1h}"), "window: expected 1s to 10m, got \"1h\""},
    {Q("flood: {then: ^stop}"), "then: expected off, alert or hold, got \"stop\""},
    {Q("poison: {crashes: ^0}"), "crashes: expected 1 to 1000000, got \"0\""},
    {Q("poison: {^crash: 3}"),
     "unknown key \"crash\" in poison of queue \"q\". Did you mean \"crashes\"?"},
};

/* ---- DLQs ---- */

static const struct mistake_case dlq_cases[] = {
    {Q("dlq: {cap: ^0}"), "cap: expected 1 to 1000000000000, got \"0\""},
    {Q("dlq: {on_full: ^drop}"), "on_full: expected block or spill, got \"drop\""},
    {Q("dlq: {on_full: ^spill}"), "on_full: spill needs an archive for DLQ \"q.dlq\", such as "
                                  "archive: \"file:archive/\""},
    {Q("dlq: {archive: ^\"s3://bucket/prefix\"}"), "an s3 archive is not in this version"},
    {Q("dlq: {archive: ^archive/}"),
     "archive: expected file:FOLDER such as file:archive/, got \"archive/\""},
    {Q("dlq: {archive: ^\"file:\"}"),
     "archive: expected file:FOLDER such as file:archive/, got \"file:\""},
    {Q("dlq: {route: ^q.dlq.bad}"),
     "route: expected a mapping such as {validation: orders.dlq.bad}, got \"q.dlq.bad\""},
    {Q("dlq: {route: {validation: ^\"a/b\"}}"), DLQ_NAMES "\"a/b\""},
    {Q("dlq: {mirror: ^\"sqs://r/q\"}"), "mirror to sqs:// is not in this version"},
    {Q("dlq: {mirror: ^elsewhere}"),
     "mirror: expected a URL such as redis://127.0.0.1/0?list=orders.dlq, got \"elsewhere\""},
    {Q("dlq: {triage: ^replay}"), "triage: expected a list of at most 32 rules such as {when: "
                                  "{category: transient}, do: replay}, got \"replay\""},
    {Q("dlq: {triage: [^{when: {category: bug}}]}"), "triage[0] has no do"},
    {Q("dlq: {triage: [{do: ^resend}]}"),
     "do: expected replay, archive, escalate, discard or compensate, got \"resend\""},
    {Q("dlq: {triage: [{do: replay, ^evry: 1m}]}"),
     "unknown key \"evry\" in triage[0] of dlq of queue \"q\". Did you mean \"every\"?"},
    {Q("dlq: {triage: [{do: replay, when: {^ages: 1m}}]}"),
     "unknown key \"ages\" in when of triage[0] of dlq of queue \"q\". Did you mean \"age\"?"},
    {Q("dlq: {triage: [{do: replay, every: ^10ms, limit: ^0}]}"),
     "every: expected 1s to 3650d, got \"10ms\"\nlimit: expected 1 to 1000, got \"0\""},
    {Q("dlq: {triage: [{do: replay, rate: ^fast}]}"),
     "rate: expected a rate such as 50/s, 15% or max, got \"fast\""},
    {Q("dlq: {triage: [{do: replay, when: {replays: ^2-1, cause: ^bored, fingerprint: ^xyz}}]}"),
     "replays: expected at most so many replays such as 2, at least so many such as 3+, or a range "
     "such as 1-2, got \"2-1\"\ncause: expected terminal, exhausted, expired, crash, blocked, "
     "unclassified, unroutable, operator, reported or adopted, got \"bored\"\nfingerprint: "
     "expected "
     "a fingerprint (16 hex digits), got \"xyz\""},
    {Q("dlq: {triage: [^{do: discard}, ^{do: archive, when: {}}]}"),
     "triage[0] would discard every letter. Say which, such as when: {category: "
     "validation}\ntriage[1] would archive every letter. Say which, such as when: {category: "
     "validation}"},
    {Q("dlq: {triage: [{do: escalate, ^edit: '.a'}, {do: discard, when: {age: 1d}, ^to: q}]}"),
     "edit: only with replay\nto: only with replay and escalate"},
    {Q("dlq: {triage: [{do: escalate, ^stop_after: 3}]}"),
     "stop_after: only with replay and compensate"},
    {Q("dlq: {triage: [{do: replay, to: ^[q, r]}]}"), "to: expected one queue, got a list"},
    {Q("dlq: {triage: ^[{do: replay, to: r}]}"), "triage[0]: there is no queue \"r\""},
    {Q("dlq: {triage: ^[{do: replay, to: origin}]}"),
     "triage[0]: letters of queue \"q\" have no other origin: its source is builtin"},
    {Q("dlq: {triage: ^[{do: replay}, {do: escalate, to: pager}]}"),
     "triage[1]: there is no receiver \"pager\" in alerts"},
    {Q("dlq: {triage: ^[{do: archive, when: {age: 1d}}]}"),
     "triage[0]: archive needs an archive for DLQ \"q.dlq\", such as archive: \"file:archive/\""},
    {TOP("dlqs: {q.dlq: {triage: ^[{do: compensate, when: {reason: x}}]}}"),
     "triage[0]: queue \"q\" has no compensate handler"},
    {"queues:\n"
     "  a: {" HTTP ", dlq: {route: {bug: shared}, triage: [{do: replay}]}}\n"
     "  ^b: {" HTTP ", dlq: {route: {bug: shared}, triage: [{do: replay, limit: 3}]}}\n",
     "queue \"b\" shares DLQ \"shared\" with queue \"a\" (2:3) but has another triage. Say it "
     "once, "
     "in dlqs"},
    {Q("dlq: {retention: ^{unresolved: 90d}}"),
     "retention of unresolved letters needs an archive for DLQ \"q.dlq\", such as archive: "
     "\"file:archive/\""},
    {Q("dlq: {retention: {resolved: ^soon}}"),
     "resolved: expected a duration such as 200ms, 10s, 5m, 24h or 30d, got \"soon\""},
    {Q("dlq: {retention: {^solved: 1d}}"),
     "unknown key \"solved\" in retention of dlq of queue \"q\". Did you mean \"resolved\"?"},
    {Q("dlq: {^ownr: a}"), "unknown key \"ownr\" in dlq of queue \"q\". Did you mean \"owner\"?"},
    {TOP("dlqs: ^[q.dlq]"), "dlqs: expected a mapping of DLQs by name, got a list"},
    {TOP("dlqs: {q.dlq: {^route: {a: b}}}"), "unknown key \"route\" in DLQ \"q.dlq\": expected "
                                             "cap, on_full, owner, runbook, archive, max_replays, "
                                             "mirror, fresh, retention or triage"},
    {TOP("dlqs: {^other.dlq: {cap: 3}}"), "neither a queue nor adopt sends to DLQ \"other.dlq\""},
    {TOP("dlqs: {q.dlq: {on_full: ^spill}}"),
     "on_full: spill needs an archive for DLQ \"q.dlq\", such as archive: \"file:archive/\""},
    {"queues:\n"
     "  a: {" HTTP ", dlq: {cap: 5, route: {bug: shared}}}\n"
     "  ^b: {" HTTP ", dlq: {cap: 6, route: {bug: shared}}}\n",
     "queue \"b\" shares DLQ \"shared\" with queue \"a\" (2:3) but has another cap. Say it once, "
     "in dlqs"},
    {"queues:\n"
     "  a: {" HTTP ", dlq: {owner: x, route: {bug: shared}}}\n"
     "  ^b: {" HTTP ", classify: {rules: [{when: {}, do: dlq, dlq: shared}]}}\n",
     "queue \"b\" shares DLQ \"shared\" with queue \"a\" (2:3) but has another owner. Say it once, "
     "in dlqs"},
};

/* ---- the environment, characters, several at once ---- */

static const struct mistake_case other_cases[] = {
    {Q("dlq: {owner: ^\"${IMPOUND_NOT_SET}\"}"),
     "owner: the environment has no ${IMPOUND_NOT_SET}; set it, or write \"$${\" for a plain "
     "\"${\""},
    {Q("dlq: {owner: ^\"a ${B\"}"), "owner: \"${\" has no \"}\"; write \"$${\" for a plain \"${\""},
    {Q("dlq: {owner: \"é\", cap: ^é}"), "cap: expected a whole number, got \"é\""},
    {"server:\n  ^liste: x\nstore: ^a\nqueues:\n  q:\n    handler:\n      http: ^b\n    retry:\n"
     "      attempts: ^x\n",
     "unknown key \"liste\" in server. Did you mean \"listen\"?\nstore: expected sqlite:PATH such "
     "as sqlite:impound.db, got \"a\"\nhttp: " URL "\"b\"\nattempts: expected a whole number, got "
     "\"x\""},
    {"queues:\n  a: {" HTTP ", retry: &r {base: ^^soon}}\n  b: {" HTTP ", retry: *r}\n",
     "base: " DURATION "\"soon\"\nbase: " DURATION "\"soon\""},
};

/* Cuts the marks out of the case and writes what is to be said. */
static void prepare(const struct mistake_case *one, struct buf *yaml, struct buf *expected) {
    struct bytes lines = bytes_of(one->expected), line;
    size_t row = 1, column = 1;
    for (const char *c = one->yaml; *c; c++) {
        if (*c == '^') {
            assert_true(bytes_line(&lines, &line));
            buf_printf(expected, "f.yaml:%zu:%zu: %.*s\n", row, column, BYTES_ARG(line));
            continue;
        }
        buf_char(yaml, *c);
        bool continues = ((unsigned char)*c & 0xc0) == 0x80;
        column = *c == '\n' ? 1 : column + !continues;
        row += *c == '\n';
    }
}

static void run_case(const struct mistake_case *one) {
    struct buf yaml, expected, mistakes;
    struct config *config;
    buf_init_heap(&yaml, 1 << 16);
    buf_init_heap(&expected, 1 << 16);
    buf_init_heap(&mistakes, 1 << 16);
    prepare(one, &yaml, &expected);
    assert_int_equal(config_parse(buf_view(&yaml), "f.yaml", &config, &mistakes), STATUS_INVALID);
    assert_string_equal(buf_cstr(&mistakes), buf_cstr(&expected));
    config_free(config);
    buf_free(&yaml);
    buf_free(&expected);
    buf_free(&mistakes);
}

#define TEST_OF(name, cases)                                                                       \
    static void name(void **state) {                                                               \
        (void)state;                                                                               \
        for (size_t i = 0; i < sizeof(cases) / sizeof *(cases); i++)                               \
            run_case(&(cases)[i]);                                                                 \
    }

TEST_OF(mistakes_of_the_file_have_their_place, file_cases)
TEST_OF(mistakes_of_server_and_store_have_their_place, server_cases)
TEST_OF(mistakes_of_a_queue_have_their_place, queue_cases)
TEST_OF(mistakes_of_a_handler_have_their_place, handler_cases)
TEST_OF(mistakes_of_a_rule_have_their_place, classify_cases)
TEST_OF(mistakes_of_a_policy_have_their_place, policy_cases)
TEST_OF(mistakes_of_a_dlq_have_their_place, dlq_cases)
TEST_OF(several_mistakes_are_all_told, other_cases)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_of_the_file_have_their_place),
        cmocka_unit_test(mistakes_of_server_and_store_have_their_place),
        cmocka_unit_test(mistakes_of_a_queue_have_their_place),
        cmocka_unit_test(mistakes_of_a_handler_have_their_place),
        cmocka_unit_test(mistakes_of_a_rule_have_their_place),
        cmocka_unit_test(mistakes_of_a_policy_have_their_place),
        cmocka_unit_test(mistakes_of_a_dlq_have_their_place),
        cmocka_unit_test(several_mistakes_are_all_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
