#include "store/embedded/sqlite/fold/counters.h"

/* A recount of the rows, in the columns of the counters table. */
#define ROWS_SAY                                                                                   \
    "SELECT dlq, 'category' AS kind, ifnull(category, '') AS category, '' AS reason,"              \
    " count(*) AS count FROM messages WHERE dlq IS NOT NULL"                                       \
    " AND state IN ('pending_review', 'replaying') GROUP BY 1, 3"                                  \
    " UNION ALL SELECT dlq, 'reason', '', ifnull(reason, ''), count(*) FROM messages"              \
    " WHERE dlq IS NOT NULL AND state IN ('pending_review', 'replaying') GROUP BY 1, 4"            \
    " UNION ALL SELECT dlq, state, '', '', count(*) FROM messages"                                 \
    " WHERE dlq IS NOT NULL AND state IN ('replaying', 'resolved', 'discarded') GROUP BY 1, 2"
#define KINDS_OF_ROWS "('category', 'reason', 'replaying', 'resolved', 'discarded')"

/* The depth by age, as one number per DLQ. Unlike sum(), total() does not overflow on damaged
 * counts. */
#define AGES_SAY                                                                                   \
    "SELECT dlq, 'age' AS kind, '' AS category, '' AS reason, total(count) AS count FROM ages"     \
    " GROUP BY 1"
#define ROWS_SAY_OF_AGES                                                                           \
    "SELECT dlq, 'age', '', '', count(*) FROM messages WHERE dlq IS NOT NULL"                      \
    " AND state IN ('pending_review', 'replaying') GROUP BY 1"

/* Bytes of packs that rows refer to, including head and mark of each record. A length beyond the
 * maximum of a pack (pack.h: PACK_OFFSET_MAX) is clipped, so that sums of damaged rows do not
 * overflow. */
#define ENVELOPE_RECORD "max(0, min(envelope_len, 4294967296)) + 17"
#define BODY_RECORD     "max(0, min(body_len, 4294967296)) + 17"
#define PACKS_SAY                                                                                  \
    "SELECT number AS dlq, 'pack' AS kind, '' AS category, '' AS reason, live AS count FROM packs"
#define ROWS_SAY_OF_PACKS                                                                          \
    "SELECT envelope_at >> 32, 'pack', '', '', sum(" ENVELOPE_RECORD ") FROM messages"             \
    " WHERE envelope_at <> 0 GROUP BY 1"                                                           \
    " UNION ALL SELECT body_at >> 32, 'pack', '', '', sum(" BODY_RECORD ") FROM messages"          \
    " WHERE body_at <> 0 GROUP BY 1"

/* A recount of the groups, with the fingerprint in the column `category`. */
#define GROUPS_SAY                                                                                 \
    "SELECT dlq, 'group' AS kind, fingerprint AS category, '' AS reason, count FROM groups"
#define ROWS_SAY_OF_GROUPS                                                                         \
    "SELECT dlq, 'group', fingerprint, '', count(*) FROM messages WHERE dlq IS NOT NULL"           \
    " AND fingerprint IS NOT NULL AND fingerprint <> '0000000000000000'"                           \
    " AND state IN ('pending_review', 'replaying') GROUP BY 1, 3"

static const char compare[] =
    "SELECT dlq, kind, category, reason, total(said), total(counted) FROM ("
    " SELECT dlq, kind, category, reason, count AS said, 0 AS counted FROM counters"
    "  WHERE kind IN " KINDS_OF_ROWS
    " UNION ALL SELECT dlq, kind, category, reason, count, 0 FROM (" AGES_SAY
    " UNION ALL " GROUPS_SAY " UNION ALL " PACKS_SAY ")"
    " UNION ALL SELECT dlq, kind, category, reason, 0, count FROM (" ROWS_SAY
    " UNION ALL " ROWS_SAY_OF_AGES " UNION ALL " ROWS_SAY_OF_GROUPS " UNION ALL " ROWS_SAY_OF_PACKS
    ")"
    ") GROUP BY 1, 2, 3, 4 HAVING total(said) <> total(counted)";

static const char rebuild[] =
    "UPDATE packs SET live = 0;"
    "UPDATE packs SET live = said.live FROM (SELECT number, sum(live) AS live FROM"
    " (SELECT envelope_at >> 32 AS number, " ENVELOPE_RECORD " AS live FROM messages"
    "  WHERE envelope_at <> 0"
    "  UNION ALL SELECT body_at >> 32, " BODY_RECORD " FROM messages WHERE body_at <> 0)"
    " GROUP BY 1) AS said WHERE said.number = packs.number;"
    "DELETE FROM counters WHERE kind IN " KINDS_OF_ROWS ";"
    "INSERT INTO counters " ROWS_SAY ";"
    "DELETE FROM ages;"
    "INSERT INTO ages SELECT dlq, dead_ms / 60000 * 60000, dead_ms / 60000 * 60000 + 60000,"
    " min(dead_ms), count(*) FROM messages"
    " WHERE dlq IS NOT NULL AND state IN ('pending_review', 'replaying') GROUP BY 1, 2;"
    "INSERT INTO counters SELECT dlq, 'total', '', '', count(*) FROM messages"
    " WHERE dlq IS NOT NULL AND state <> 'pending_retry' GROUP BY 1"
    " ON CONFLICT DO UPDATE SET count = max(count, excluded.count);"
    "UPDATE groups SET count = 0;"
    "INSERT INTO groups SELECT dlq, fingerprint, sum(state IN ('pending_review', 'replaying')),"
    " count(*), min(dead_ms), max(dead_ms), max(seq) FROM messages WHERE dlq IS NOT NULL"
    " AND state <> 'pending_retry' AND fingerprint IS NOT NULL AND fingerprint <> "
    "'0000000000000000' GROUP BY 1, 2"
    " ON CONFLICT DO UPDATE SET count = excluded.count, total = max(total, excluded.total),"
    " first_ms = min(first_ms, excluded.first_ms), last_ms = max(last_ms, excluded.last_ms);";

enum status counters_verify(struct database *database, struct buf *report, size_t *wrong,
                            struct err *err) {
    sqlite3_stmt *stmt = NULL;
    *wrong = 0;
    if (sqlite3_prepare_v2(database->db, compare, -1, &stmt, NULL) != SQLITE_OK)
        return database_trouble(database->db, "comparing counters", err);
    enum status status = STATUS_OK;
    while (database_next(database, stmt, &status, err)) {
        struct bytes name = database_text(stmt, bytes_is(database_text(stmt, 1), "reason") ? 3 : 2);
        const char *whose = bytes_is(database_text(stmt, 1), "pack") ? "" : "DLQ ";
        buf_printf(report, "counter of %s%.*s, %.*s \"%.*s\": it says %lld, the rows say %lld\n",
                   whose, BYTES_ARG(database_text(stmt, 0)), BYTES_ARG(database_text(stmt, 1)),
                   BYTES_ARG(name), (long long)sqlite3_column_int64(stmt, 4),
                   (long long)sqlite3_column_int64(stmt, 5));
        ++*wrong;
    }
    sqlite3_finalize(stmt);
    return status;
}

enum status counters_rebuild(struct database *database, struct err *err) {
    return database_run(database->db, rebuild, err);
}
