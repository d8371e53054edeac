#include "store/embedded/sqlite/bounds.h"

#include "store/embedded/sqlite/database.h"

enum { ROW_SHOWN = 60 };

void bounds_damaged(struct bounds *bounds, int column, const char *what) {
    if (bounds->status != STATUS_OK)
        return;
    struct bytes row = {(const char *)sqlite3_column_text(bounds->stmt, bounds->row), 0};
    row.len = row.ptr ? (size_t)sqlite3_column_bytes(bounds->stmt, bounds->row) : 0;
    row = bytes_clip(row, ROW_SHOWN);
    bounds->status = err_set(bounds->err, STATUS_CORRUPT,
                             "the SQLite file, table %s, row \"%.*s\", column %s: %s",
                             bounds->table, (int)row.len, row.ptr ? row.ptr : "",
                             sqlite3_column_name(bounds->stmt, column), what);
}

int64_t bounds_int(struct bounds *bounds, int column, int64_t least, int64_t most) {
    if (sqlite3_column_type(bounds->stmt, column) != SQLITE_INTEGER) {
        bounds_damaged(bounds, column, "it is no integer");
        return 0;
    }
    int64_t value = sqlite3_column_int64(bounds->stmt, column);
    if (value >= least && value <= most)
        return value;
    char what[96];
    sqlite3_snprintf(sizeof what, what, "%lld is not within %lld and %lld", (long long)value,
                     (long long)least, (long long)most);
    bounds_damaged(bounds, column, what);
    return 0;
}

uint64_t bounds_count(struct bounds *bounds, int column) {
    return (uint64_t)bounds_int(bounds, column, 0, BOUNDS_NUMBER_MAX);
}

int64_t bounds_time(struct bounds *bounds, int column) {
    return bounds_int(bounds, column, -BOUNDS_NUMBER_MAX, BOUNDS_NUMBER_MAX);
}

struct bytes bounds_name(struct bounds *bounds, int column) {
    struct bytes name = database_text(bounds->stmt, column);
    if (name.len == 0)
        bounds_damaged(bounds, column, "it is empty");
    return name;
}
