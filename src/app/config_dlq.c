#include "app/config_dlq.h"

#include "app/config_reply.h"
#include "app/config_retention.h"
#include "app/config_triage.h"
#include "app/config_triage_rules.h"
#include "app/config_value.h"

enum { CAP = 100000, REPLAYS_MOST = 1000000 };
#define CAP_MOST 1000000000000LL

const char *const config_on_full_words[] = {
    [ON_FULL_BLOCK] = "block", [ON_FULL_SPILL] = "spill", NULL};

/* What a mapping says; routes go to the queue's policy. */
struct said {
    struct engine_dlq dlq;
    struct config_triage triage;
    struct policy *policy;
};

static bool read_archive(struct config_reader *reader, const struct config_node *node,
                         const struct config_field *field, void *out) {
    static const char form[] = "file:FOLDER such as file:archive/";
    (void)field;
    struct bytes text;
    if (!config_value_string(reader, node, form, &text))
        return false;
    if (bytes_starts(text, BYTES("s3:")))
        return config_reader_not_yet(reader, node->at, BYTES("an s3 archive"));
    if (!bytes_starts(text, BYTES("file:")) || bytes_is(text, "file:"))
        return config_reader_expected(reader, node, form);
    *(struct bytes *)out = text;
    return true;
}

static bool read_mirror(struct config_reader *reader, const struct config_node *node,
                        const struct config_field *field, void *out) {
    (void)field;
    return config_reply_url(reader, node, "mirror",
                            "a URL such as redis://127.0.0.1/0?list=orders.dlq", out);
}

/* `out` is the whole of what is said. */
static bool read_route(struct config_reader *reader, const struct config_node *node,
                       const struct config_field *field, void *out) {
    struct policy *policy = ((struct said *)out)->policy;
    if (!config_reader_is_mapping(reader, node, "a mapping such as {validation: orders.dlq.bad}"))
        return false;
    if (node->count > POLICY_ROUTES_MAX)
        return config_reader_expected(reader, node, "at most 32 routes");
    for (const struct config_node *child = node->first; child; child = child->next) {
        struct dlq_route *route = &policy->routes[policy->route_count];
        if (child->key.len == 0)
            config_mistake_add(&reader->mistakes, child->at,
                               "route: expected a category before the colon");
        else if (config_value_dlq(reader, child, field, &route->dlq)) {
            route->category = child->key;
            policy->route_count++;
        }
    }
    return true;
}

/* `route` is last, and the one key that an entry of `dlqs` does not have. */
static const struct config_field dlq_fields[] = {
    CONFIG_NUMBER("cap", config_value_large, struct said, dlq.cap, 1, CAP_MOST),
    CONFIG_WORD("on_full", struct said, dlq.on_full, config_on_full_words),
    CONFIG_VALUE("owner", config_value_text, struct said, dlq.owner),
    CONFIG_VALUE("runbook", config_value_text, struct said, dlq.runbook),
    CONFIG_VALUE("archive", read_archive, struct said, dlq.archive),
    CONFIG_NUMBER("max_replays", config_value_count, struct said, triage.max_replays, 0,
                  REPLAYS_MOST),
    CONFIG_VALUE("mirror", read_mirror, struct said, dlq.mirror),
    CONFIG_VALUE("fresh", config_triage_read_fresh, struct said, triage),
    CONFIG_VALUE("retention", config_retention_read, struct said, triage.retention),
    CONFIG_VALUE("triage", config_triage_rules_read, struct said, triage.rules),
    CONFIG_WHOLE("route", read_route),
};
const struct config_table config_dlq_table = CONFIG_TABLE(dlq_fields);
const struct config_table config_dlqs_table = {dlq_fields,
                                               sizeof dlq_fields / sizeof *dlq_fields - 1};

void config_dlq_init(struct config_reader *reader, struct config_queue *queue) {
    queue->dlqs = arena_alloc(reader->arena, sizeof *queue->dlqs);
    queue->dlqs[0] = (struct engine_dlq){.name = queue->policy.dlq, .cap = CAP};
    queue->triage = arena_alloc(reader->arena, sizeof *queue->triage);
    queue->triage[0] = (struct config_triage){.max_replays = CONFIG_MAX_REPLAYS};
    config_retention_init(&queue->triage[0].retention);
    queue->dlq_count = 1;
}

bool config_dlq_read(struct config_reader *reader, const struct config_node *node,
                     const struct config_field *field, void *out) {
    (void)field;
    struct config_queue *queue = out;
    struct said said = {queue->dlqs[0], queue->triage[0], &queue->policy};
    bool good = config_reader_mapping(reader, node, &config_dlq_table, &said);
    queue->dlqs[0] = said.dlq;
    queue->triage[0] = said.triage;
    return good;
}

/* ---- one entry for each DLQ ---- */

/* An entry of the top-level `dlqs`. */
struct override {
    const struct config_node *node;
    struct engine_dlq dlq;
    struct config_triage triage;
    bool used;
};

struct finish {
    struct config_reader *reader;
    struct override *overrides;
    size_t override_count;
    struct map shared; /* of struct first_use */
    struct first_use *first, **last;
};

/* The queue by which a DLQ was first reached. */
struct first_use {
    struct map_node node;
    struct first_use *next; /* in the order of the file */
    const struct engine_dlq *dlq;
    const struct config_triage *triage;
    const struct config_queue *queue;
    struct config_place at;
};

static void read_overrides(struct finish *finish, const struct config_node *dlqs) {
    struct config_reader *reader = finish->reader;
    if (!dlqs || !config_reader_is_mapping(reader, dlqs, "a mapping of DLQs by name"))
        return;
    finish->overrides = arena_alloc(reader->arena, dlqs->count * sizeof *finish->overrides);
    for (const struct config_node *child = dlqs->first; child; child = child->next) {
        struct said said = {0};
        struct bytes label = config_reader_text(reader, "DLQ \"%.*s\"", BYTES_ARG(child->key));
        if (config_reader_named(reader, child, &config_dlqs_table, &said, label))
            finish->overrides[finish->override_count++] =
                (struct override){.node = child, .dlq = said.dlq, .triage = said.triage};
    }
}

static struct override *override_of(const struct finish *finish, struct bytes dlq) {
    for (size_t i = 0; i < finish->override_count; i++)
        if (bytes_eq(finish->overrides[i].node->key, dlq))
            return &finish->overrides[i];
    return NULL;
}

static void apply(struct override *override, struct engine_dlq *dlq) {
    override->used = true;
    if (config_tree_find(override->node, "cap"))
        dlq->cap = override->dlq.cap;
    if (config_tree_find(override->node, "on_full"))
        dlq->on_full = override->dlq.on_full;
    if (config_tree_find(override->node, "owner"))
        dlq->owner = override->dlq.owner;
    if (config_tree_find(override->node, "runbook"))
        dlq->runbook = override->dlq.runbook;
    if (config_tree_find(override->node, "archive"))
        dlq->archive = override->dlq.archive;
    if (config_tree_find(override->node, "mirror"))
        dlq->mirror = override->dlq.mirror;
}

static void add_dlq(const struct finish *finish, struct config_queue *queue, const struct said *own,
                    struct bytes name) {
    for (size_t i = 0; i < queue->dlq_count; i++)
        if (bytes_eq(queue->dlqs[i].name, name))
            return;
    struct config_triage *triage = &queue->triage[queue->dlq_count];
    struct engine_dlq *dlq = &queue->dlqs[queue->dlq_count++];
    *triage = own->triage;
    *dlq = own->dlq;
    dlq->name = name;
    struct override *override = override_of(finish, name);
    if (override) {
        apply(override, dlq);
        config_triage_apply(override->node, &override->triage, triage);
    }
}

/* The default one, every route's, every rule's. */
static void expand(const struct finish *finish, struct config_queue *queue) {
    const struct policy *policy = &queue->policy;
    struct said own = {.dlq = queue->dlqs[0], .triage = queue->triage[0]};
    size_t most = 1 + policy->route_count + policy->rule_count;
    queue->dlqs = arena_alloc(finish->reader->arena, most * sizeof *queue->dlqs);
    queue->triage = arena_alloc(finish->reader->arena, most * sizeof *queue->triage);
    queue->dlq_count = 0;
    add_dlq(finish, queue, &own, policy->dlq);
    for (size_t i = 0; i < policy->route_count; i++)
        add_dlq(finish, queue, &own, policy->routes[i].dlq);
    for (size_t i = 0; i < policy->rule_count; i++)
        if (policy->rules[i].dlq.len)
            add_dlq(finish, queue, &own, policy->rules[i].dlq);
}

/* Where a key was said for this DLQ. */
static struct config_place place_of(const struct finish *finish, const struct config_node *queue,
                                    struct bytes dlq, const char *key) {
    const struct override *override = override_of(finish, dlq);
    const struct config_node *own = config_tree_find(queue, "dlq"), *said = NULL;
    if (override)
        said = config_tree_find(override->node, key);
    if (!said && own)
        said = config_tree_find(own, key);
    return said ? said->at : queue->key_at;
}

static bool expires(const struct config_triage *triage) {
    return triage->retention.keep_ms[RETENTION_UNRESOLVED] != RETENTION_NEVER;
}

/* One is enough for a queue: its DLQs mostly have it from one place. */
static void check_archive(const struct finish *finish, const struct config_queue *queue,
                          const struct config_node *node) {
    for (size_t i = 0; i < queue->dlq_count; i++) {
        const struct engine_dlq *dlq = &queue->dlqs[i];
        bool spills = dlq->on_full == ON_FULL_SPILL;
        if (dlq->archive.len > 0 || (!spills && !expires(&queue->triage[i])))
            continue;
        const char *key = spills ? "on_full" : "retention";
        config_mistake_add(&finish->reader->mistakes, place_of(finish, node, dlq->name, key),
                           "%s needs an archive for DLQ \"%.*s\", such as "
                           "archive: \"file:archive/\"",
                           spills ? "on_full: spill" : "retention of unresolved letters",
                           BYTES_ARG(dlq->name));
        return;
    }
}

/* Here too one is enough. */
static void check_rules(const struct finish *finish, const struct config_queue *queue,
                        const struct config_node *node) {
    for (size_t i = 0; i < queue->dlq_count; i++)
        if (!config_triage_rules_check(finish->reader, queue, i,
                                       place_of(finish, node, queue->dlqs[i].name, "triage")))
            return;
}

static const char *difference(const struct engine_dlq *a, const struct engine_dlq *b) {
    if (a->cap != b->cap)
        return "cap";
    if (a->on_full != b->on_full)
        return "on_full";
    if (!bytes_eq(a->owner, b->owner))
        return "owner";
    if (!bytes_eq(a->runbook, b->runbook))
        return "runbook";
    if (!bytes_eq(a->mirror, b->mirror))
        return "mirror";
    return bytes_eq(a->archive, b->archive) ? NULL : "archive";
}

static const struct first_use *first_use_of(const struct map *shared, struct bytes dlq) {
    for (struct map_node *at = map_first(shared, bytes_hash(dlq)); at; at = map_next(at)) {
        const struct first_use *use = (const void *)at;
        if (bytes_eq(use->dlq->name, dlq))
            return use;
    }
    return NULL;
}

static void check_shared(struct finish *finish, const struct config_queue *queue,
                         const struct config_node *node) {
    for (size_t i = 0; i < queue->dlq_count; i++) {
        const struct engine_dlq *dlq = &queue->dlqs[i];
        const struct first_use *first = first_use_of(&finish->shared, dlq->name);
        const char *what = first ? difference(first->dlq, dlq) : NULL;
        if (first && !what)
            what = config_triage_difference(first->triage, &queue->triage[i]);
        if (what)
            config_mistake_add(&finish->reader->mistakes, node->key_at,
                               "queue \"%.*s\" shares DLQ \"%.*s\" with queue \"%.*s\" (%zu:%zu) "
                               "but has another %s. Say it once, in dlqs",
                               BYTES_ARG(queue->name), BYTES_ARG(dlq->name),
                               BYTES_ARG(first->queue->name), first->at.line, first->at.column,
                               what);
        if (first)
            continue;
        struct first_use *use = arena_alloc(finish->reader->arena, sizeof *use);
        *use = (struct first_use){
            .dlq = dlq, .triage = &queue->triage[i], .queue = queue, .at = node->key_at};
        map_insert(&finish->shared, &use->node, bytes_hash(dlq->name));
        *finish->last = use;
        finish->last = &use->next;
    }
}

static void list_dlqs(const struct finish *finish) {
    struct config *config = finish->reader->config;
    config->dlqs = arena_alloc(&config->arena, finish->shared.count * sizeof *config->dlqs);
    for (const struct first_use *use = finish->first; use; use = use->next)
        config->dlqs[config->dlq_count++] = (struct config_dlq){use->dlq, use->triage};
}

static void check_unused(const struct finish *finish) {
    for (size_t i = 0; i < finish->override_count; i++)
        if (!finish->overrides[i].used)
            config_mistake_add(&finish->reader->mistakes, finish->overrides[i].node->key_at,
                               "neither a queue nor adopt sends to DLQ \"%.*s\"",
                               BYTES_ARG(finish->overrides[i].node->key));
}

/* ---- those of `adopt` ---- */

/* What a queue that reaches it says of it holds; else the defaults, and what `dlqs` says. */
static void expand_adopt(struct finish *finish, const struct config_adopt *adopt) {
    struct config_place at = {adopt->line, adopt->column};
    struct config_node node = {.kind = CONFIG_MAPPING, .at = at, .key_at = at};
    if (first_use_of(&finish->shared, adopt->entry.dlq))
        return;
    struct config_queue *alone = arena_alloc(finish->reader->arena, sizeof *alone);
    alone->name = adopt->entry.name;
    alone->policy.dlq = adopt->entry.dlq;
    config_dlq_init(finish->reader, alone);
    expand(finish, alone);
    check_archive(finish, alone, &node);
    check_rules(finish, alone, &node);
    check_shared(finish, alone, &node);
}

void config_dlq_finish(struct config_reader *reader, const struct config_node *root) {
    struct finish finish = {.reader = reader, .last = &finish.first};
    struct config *config = reader->config;
    const struct config_node *queues = config_tree_find(root, "queues");
    const struct config_node *node = queues ? queues->first : NULL;
    read_overrides(&finish, config_tree_find(root, "dlqs"));
    for (size_t i = 0; i < config->queue_count; i++, node = node->next) {
        struct config_queue *queue = &config->queues[i];
        expand(&finish, queue);
        check_archive(&finish, queue, node);
        check_rules(&finish, queue, node);
        check_shared(&finish, queue, node);
    }
    for (size_t i = 0; i < config->adopt_count; i++)
        expand_adopt(&finish, &config->adopts[i]);
    check_unused(&finish);
    list_dlqs(&finish);
    map_free(&finish.shared);
}
