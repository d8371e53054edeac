#include "config/triage/config_dlq.h"

#include "config/table/config_printer.h"
#include "config/table/config_reload.h"
#include "config/queue/config_reply.h"
#include "config/triage/config_triage.h"
#include "config/triage/config_triage_rules.h"
#include "config/table/config_value.h"

enum { CAP = 100000, REPLAYS_MOST = 1000000 };
#define CAP_MOST 1000000000000LL

static const char *const on_full_words[] = {
    [ON_FULL_BLOCK] = "block", [ON_FULL_SPILL] = "spill", NULL};

/* The settings of a mapping; routes go to the queue's policy. */
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

/* `out` is the whole struct. */
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

/* ---- printing ---- */

CONFIG_SHOWN(has_fresh, struct said, of->triage.fresh.within_ms > 0 || of->triage.fresh.check)
CONFIG_SHOWN(has_rules, struct said, of->triage.rules.count > 0)

/* `route` is last, and the only key that an entry of `dlqs` does not have. */
static const struct config_field dlq_fields[] = {
    CONFIG_NUMBER("cap", large, struct said, dlq.cap, 1, CAP_MOST, .usual = CAP,
                  .reload = CONFIG_LIVE),
    CONFIG_WORD("on_full", struct said, dlq.on_full, on_full_words, .reload = CONFIG_LIVE),
    CONFIG_TEXT("owner", config_value_text, struct said, dlq.owner, .reload = CONFIG_LIVE),
    CONFIG_TEXT("runbook", config_value_text, struct said, dlq.runbook, .reload = CONFIG_LIVE),
    CONFIG_TEXT("archive", read_archive, struct said, dlq.archive, .reload = CONFIG_LIVE),
    CONFIG_NUMBER("max_replays", count, struct said, triage.max_replays, 0, REPLAYS_MOST,
                  .usual = CONFIG_MAX_REPLAYS, .reload = CONFIG_LIVE, .behind = "mirror"),
    CONFIG_TEXT("mirror", read_mirror, struct said, dlq.mirror, .reload = CONFIG_RESTART),
    CONFIG_MAPPED("fresh", config_triage_read_fresh, config_fresh_table, struct said, triage.fresh,
                  .shown = has_fresh),
    CONFIG_MAPPED("retention", config_triage_read_retention, config_retention_table, struct said,
                  triage.retention, .merges = true, .reload = CONFIG_LIVE),
    CONFIG_OTHER("triage", config_triage_rules_read, config_triage_rules_put, struct said,
                 triage.rules, .shown = has_rules, .reload = CONFIG_LIVE),
    CONFIG_WHOLE("route", read_route, .reload = CONFIG_LIVE),
};
const struct config_table config_dlq_table = CONFIG_FLOW(dlq_fields);
const struct config_table config_dlqs_table = {.fields = dlq_fields,
                                               .count = sizeof dlq_fields / sizeof *dlq_fields - 1};

void config_dlq_init(struct config_reader *reader, struct config_queue *queue) {
    struct said said = {.dlq.name = queue->policy.dlq};
    config_reader_defaults(&config_dlq_table, &said);
    queue->dlqs = arena_alloc(reader->arena, sizeof *queue->dlqs);
    queue->dlqs[0] = said.dlq;
    queue->triage = arena_alloc(reader->arena, sizeof *queue->triage);
    queue->triage[0] = said.triage;
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
    struct said said;
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
                (struct override){.node = child, .said = said};
    }
}

static struct override *override_of(const struct finish *finish, struct bytes dlq) {
    for (size_t i = 0; i < finish->override_count; i++)
        if (bytes_eq(finish->overrides[i].node->key, dlq))
            return &finish->overrides[i];
    return NULL;
}

static void add_dlq(const struct finish *finish, struct config_queue *queue, struct said said,
                    struct bytes name) {
    for (size_t i = 0; i < queue->dlq_count; i++)
        if (bytes_eq(queue->dlqs[i].name, name))
            return;
    struct override *override = override_of(finish, name);
    if (override) {
        override->used = true;
        config_reader_apply(&config_dlqs_table, override->node, &override->said, &said);
    }
    said.dlq.name = name;
    queue->triage[queue->dlq_count] = said.triage;
    queue->dlqs[queue->dlq_count++] = said.dlq;
}

/* Adds the default DLQ, and those of every route and rule. */
static void expand(const struct finish *finish, struct config_queue *queue) {
    const struct policy *policy = &queue->policy;
    struct said own = {.dlq = queue->dlqs[0], .triage = queue->triage[0]};
    size_t most = 1 + policy->route_count + policy->rule_count;
    queue->dlqs = arena_alloc(finish->reader->arena, most * sizeof *queue->dlqs);
    queue->triage = arena_alloc(finish->reader->arena, most * sizeof *queue->triage);
    queue->dlq_count = 0;
    add_dlq(finish, queue, own, policy->dlq);
    for (size_t i = 0; i < policy->route_count; i++)
        add_dlq(finish, queue, own, policy->routes[i].dlq);
    for (size_t i = 0; i < policy->rule_count; i++)
        if (policy->rules[i].dlq.len)
            add_dlq(finish, queue, own, policy->rules[i].dlq);
}

/* The position of the mapping that sets a key for this DLQ. */
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

/* One mistake per queue is enough: its DLQs mostly have the archive from one mapping. */
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

/* One mistake per queue is enough here, too. */
static void check_rules(const struct finish *finish, const struct config_queue *queue,
                        const struct config_node *node) {
    for (size_t i = 0; i < queue->dlq_count; i++)
        if (!config_triage_rules_check(finish->reader, queue, i,
                                       place_of(finish, node, queue->dlqs[i].name, "triage")))
            return;
}

/* The first key in which they differ; NULL: none. */
static const char *difference(const struct said *a, const struct said *b) {
    for (size_t i = 0; i < config_dlqs_table.count; i++)
        if (!config_printer_same(&config_dlqs_table.fields[i], a, b))
            return config_dlqs_table.fields[i].name;
    return NULL;
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
        const char *what = NULL;
        if (first)
            what = difference(&(struct said){*first->dlq, *first->triage, NULL},
                              &(struct said){*dlq, queue->triage[i], NULL});
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

/* ---- DLQs of `adopt` ---- */

/* The settings are those of a queue that reaches the DLQ; else the defaults, with those of `dlqs`.
 */
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

/* ---- printing and comparing ---- */

bool config_dlq_has_routes(const struct config_printer *p, const struct config_field *field,
                           const void *mapping) {
    (void)p, (void)field;
    return ((const struct config_queue *)mapping)->policy.route_count > 0;
}

void config_dlq_put_routes(struct config_printer *p, const struct config_field *field,
                           const void *value) {
    const struct policy *policy = &((const struct config_queue *)value)->policy;
    (void)field;
    config_printer_indent(p);
    buf_str(p->out, "route:\n");
    p->indent++;
    for (size_t i = 0; i < policy->route_count; i++) {
        config_printer_indent(p);
        config_printer_key(p, policy->routes[i].category, ": ");
        buf_printf(p->out, "%.*s\n", BYTES_ARG(policy->routes[i].dlq));
    }
    p->indent--;
}

void config_dlq_put_all(struct config_printer *p, const struct config_field *field,
                        const void *value) {
    const struct config *config = value;
    (void)field;
    for (size_t i = 0; i < config->dlq_count; i++) {
        const struct config_dlq *dlq = &config->dlqs[i];
        config_printer_indent(p);
        config_printer_key(p, dlq->dlq->name, ": ");
        config_printer_mapping(p, &config_dlqs_table,
                               &(struct said){*dlq->dlq, *dlq->triage, NULL});
        buf_char(p->out, '\n');
    }
}

static struct said said_of(const struct config_queue *queue, struct bytes dlq) {
    for (size_t i = 0; i < queue->dlq_count; i++)
        if (bytes_eq(queue->dlqs[i].name, dlq))
            return (struct said){queue->dlqs[i], queue->triage[i], NULL};
    return (struct said){.dlq.name = dlq};
}

/* A change of a queue's list of DLQs applies at once; objects that are created at the start, such
 * as a mirror, need a restart, for a new DLQ as well. */
void config_dlq_compare(struct buf *out, const char *path, const void *old, const void *new) {
    const struct config_queue *after = new;
    for (size_t i = 0; i < after->dlq_count; i++) {
        struct said before = said_of(old, after->dlqs[i].name);
        struct said now = said_of(after, after->dlqs[i].name);
        config_reload_compare(out, path, &config_dlqs_table, &before, &now);
    }
}
