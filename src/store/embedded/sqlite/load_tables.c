#include "store/embedded/sqlite/load_tables.h"

#include "core/fingerprint.h"
#include "store/embedded/sqlite/bounds.h"

enum { LINE_SHOWN = 200 };

/* Resets a statement whose row was refused. */
static bool refuse(sqlite3_stmt *stmt, const struct bounds *bounds) {
    if (bounds->status != STATUS_OK)
        sqlite3_reset(stmt);
    return bounds->status != STATUS_OK;
}

/* ---- queues ---- */

static enum status load_queues(struct sqlite_store *self, struct err *err) {
    struct tables *tables = &self->front.tables;
    enum status status = STATUS_OK;
    sqlite3_stmt *stmt = database_statement(self->fold_db, SQL_QUEUES);
    while (database_next(self->fold_db, stmt, &status, err)) {
        struct bounds row = {.stmt = stmt, .table = "queues", .err = err};
        int64_t number = bounds_int(&row, 0, 1, BOUNDS_QUEUES_MAX);
        struct bytes name = bounds_name(&row, 1);
        if (row.status == STATUS_OK && tables_queue_known(tables, name) != TABLES_NO_QUEUE)
            bounds_damaged(&row, 1, "two queues have one name");
        if (refuse(stmt, &row))
            return row.status;
        struct queue_table *queue = tables_queue_restore(tables, (uint32_t)number, name);
        if (sqlite3_column_type(stmt, 2) != SQLITE_NULL)
            tables_queue_facts(queue, database_text(stmt, 2));
        queue->changed = false;
    }
    return status;
}

enum status load_tables_check_queue(const struct tables *tables, uint64_t seq, uint32_t queue,
                                    struct err *err) {
    if (queue > 0 && queue <= tables->queue_count && tables->queues[queue - 1]->name)
        return STATUS_OK;
    return err_set(err, STATUS_CORRUPT, "message %llu is of queue number %u, which no queue has",
                   (unsigned long long)seq, queue);
}

/* ---- counters ---- */

static enum status load_counters(struct sqlite_store *self, struct err *err) {
    struct name_table *names = &self->front.tables.names;
    enum status status = STATUS_OK;
    sqlite3_stmt *stmt = database_statement(self->fold_db, SQL_COUNTERS);
    while (database_next(self->fold_db, stmt, &status, err)) {
        enum count_kind kind;
        if (!dlq_counters_kind_parse(database_text(stmt, 1), &kind))
            continue;
        struct bounds row = {.stmt = stmt, .table = "counters", .err = err};
        struct bytes name = bounds_name(&row, 0);
        uint64_t count = bounds_count(&row, 4);
        if (refuse(stmt, &row))
            return row.status;
        struct dlq *dlq = dlq_counters_get(&self->front.tables.dlqs, name_table_get(names, name));
        *dlq_counters_count(dlq, kind, name_table_get(names, database_text(stmt, 2)),
                            name_table_get(names, database_text(stmt, 3))) = count;
        if (kind == COUNT_CATEGORY)
            dlq->depth += count;
    }
    return status;
}

static enum status load_ages(struct sqlite_store *self, struct err *err) {
    enum status status = STATUS_OK;
    sqlite3_stmt *stmt = database_statement(self->fold_db, SQL_AGES);
    while (database_next(self->fold_db, stmt, &status, err)) {
        struct bounds row = {.stmt = stmt, .table = "ages", .err = err};
        struct bytes name = bounds_name(&row, 0);
        struct ages_span span = {.start_ms = bounds_time(&row, 1),
                                 .end_ms = bounds_time(&row, 2),
                                 .oldest_ms = bounds_time(&row, 3),
                                 .count = bounds_count(&row, 4)};
        if (row.status == STATUS_OK) {
            struct dlq *dlq = dlq_counters_get(&self->front.tables.dlqs,
                                               name_table_get(&self->front.tables.names, name));
            if (!ages_restore(&dlq->ages, &span))
                bounds_damaged(&row, 2, "the span is empty or overlaps another");
        }
        if (refuse(stmt, &row))
            return row.status;
    }
    return status;
}

static enum status load_groups(struct sqlite_store *self, struct err *err) {
    struct tables *tables = &self->front.tables;
    enum status status = STATUS_OK;
    sqlite3_stmt *stmt = database_statement(self->fold_db, SQL_GROUPS);
    while (database_next(self->fold_db, stmt, &status, err)) {
        struct bounds row = {.stmt = stmt, .table = "groups", .row = 1, .err = err};
        struct bytes name = bounds_name(&row, 0);
        struct letters_group group = {
            .count = bounds_count(&row, 2),
            .total = bounds_count(&row, 3),
            .first_seen = {bounds_time(&row, 4)},
            .last_seen = {bounds_time(&row, 5)},
            .sample = (uint64_t)bounds_int(&row, 6, 0, BOUNDS_SEQ_MAX),
        };
        if (!fingerprint_parse(database_text(stmt, 1), &group.fingerprint))
            bounds_damaged(&row, 1, "it is no fingerprint");
        if (group.count > group.total)
            bounds_damaged(&row, 2, "it is more than the group ever had");
        if (refuse(stmt, &row))
            return row.status;
        group_counters_restore(&tables->groups, name_table_get(&tables->names, name), &group);
        if (group.count > 0)
            dlq_counters_get(&tables->dlqs, name_table_get(&tables->names, name))->grouped +=
                group.count;
    }
    return status;
}

/* ---- consistency ---- */

/* The same letters are counted by category, by reason and by age; those with a fingerprint also in
 * their group. Counters that contradict each other would later fall below zero. */
struct comparing {
    enum status status;
    struct err *err;
};

static void compare(struct map_node *node, void *arg) {
    struct comparing *comparing = arg;
    const struct dlq *dlq = CONTAINER_OF(node, struct dlq, node);
    struct dlq_counters_sums sums = dlq_counters_sums(dlq);
    if (comparing->status != STATUS_OK ||
        (sums.by_reason == dlq->depth && sums.by_age == dlq->depth && dlq->grouped <= dlq->depth &&
         sums.replaying <= dlq->depth))
        return;
    comparing->status = err_set(
        comparing->err, STATUS_CORRUPT,
        "the SQLite file, counters of DLQ \"%.*s\": %llu letters by category, %llu by reason, %llu "
        "by age, %llu in groups, %llu replaying",
        BYTES_ARG(bytes_clip(dlq->name->text, 100)), (unsigned long long)dlq->depth,
        (unsigned long long)sums.by_reason, (unsigned long long)sums.by_age,
        (unsigned long long)dlq->grouped, (unsigned long long)sums.replaying);
}

static enum status compare_counters(struct sqlite_store *self, struct err *err) {
    struct comparing comparing = {.err = err};
    map_each(&self->front.tables.dlqs.map, compare, &comparing);
    return comparing.status;
}

/* Checks all pages of the small tables, and the first pages of the others. The pages of the
 * messages are too many: SQLite checks each when it is read, and `impound doctor` checks all. */
static enum status check_pages(struct sqlite_store *self, enum database_sql which,
                               const char *table, struct err *err) {
    enum status status = STATUS_OK, found = STATUS_OK;
    sqlite3_stmt *stmt = database_statement(self->fold_db, which);
    while (database_next(self->fold_db, stmt, &status, err)) {
        struct bytes line = database_text(stmt, 0);
        if (found == STATUS_OK && !bytes_is(line, "ok"))
            found = err_set(err, STATUS_CORRUPT, "the SQLite file, table %s: %.*s", table,
                            BYTES_ARG(bytes_clip(line, LINE_SHOWN)));
    }
    return status == STATUS_OK ? found : status;
}

enum status load_tables(struct sqlite_store *self, struct err *err) {
    static const struct {
        enum database_sql sql;
        const char *table;
    } checks[] = {{SQL_CHECK_QUEUES, "queues"},     {SQL_CHECK_COUNTERS, "counters"},
                  {SQL_CHECK_AGES, "ages"},         {SQL_CHECK_GROUPS, "groups"},
                  {SQL_CHECK_PACKS, "packs"},       {SQL_CHECK_META, "meta"},
                  {SQL_CHECK_MESSAGES, "messages"}, {SQL_CHECK_BODIES, "bodies"},
                  {SQL_CHECK_KEPT, "kept"},         {SQL_CHECK_ERRORS, "errors"}};
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < sizeof checks / sizeof checks[0]; i++)
        status = check_pages(self, checks[i].sql, checks[i].table, err);
    if (status == STATUS_OK)
        status = load_queues(self, err);
    if (status == STATUS_OK)
        status = load_counters(self, err);
    if (status == STATUS_OK)
        status = load_ages(self, err);
    if (status == STATUS_OK)
        status = load_groups(self, err);
    if (status == STATUS_OK)
        status = compare_counters(self, err);
    return status;
}
