/* jq_filter: runs a jq filter (jq_filter) over the rows of a list. See the header. */
#include "triage/query/jq_filter.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/buf.h"

#define ENVELOPE_TEXT_MAX ((size_t)64 * 1024 * 1024)
#define PAGE_ARENA_CHUNK  ((size_t)64 * 1024)

struct ask {
    struct jq_job job;
    struct asks *all;
    struct buf input;
    enum status status;
    bool truthy;
    struct err err;
    bool damaged; /* its envelope is unreadable */
};

/* The jq programs in flight, and how their end is awaited. */
struct asks {
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    size_t running;
    struct ask list[JQ_FILTER_WINDOW];
};

struct jq_filter_scan {
    struct store *store;
    struct jq *jq;
    const struct query *query;
    struct arena *kept; /* the caller's arena, for results */
    struct arena *page; /* rows and envelopes of the current page */
    struct asks *asks;
    struct bytes cursor; /* start of the current page */
    size_t matched;
    struct mono until; /* time limit, if there is a clock */
    bool gone;
    struct jq_filter_result *result;
};

/* ---- asking ---- */

static void ask_done(struct jq_job *job, enum status status, bool truthy, struct bytes output,
                     const struct err *err) {
    (void)output;
    struct ask *ask = job->arg;
    pthread_mutex_lock(&ask->all->mutex);
    ask->status = status;
    ask->truthy = truthy;
    if (err)
        ask->err = *err;
    assert(ask->all->running > 0);
    if (--ask->all->running == 0)
        pthread_cond_signal(&ask->all->ended);
    pthread_mutex_unlock(&ask->all->mutex);
}

static void ask_start(struct jq_filter_scan *scan, struct ask *ask, struct bytes input) {
    ask->all = scan->asks;
    ask->job = (struct jq_job){
        .program = scan->query->where, .input = input, .done = ask_done, .arg = ask};
    pthread_mutex_lock(&scan->asks->mutex);
    scan->asks->running++;
    pthread_mutex_unlock(&scan->asks->mutex);
    scan->jq->vtable->start(scan->jq, &ask->job);
}

static void wait_for_all(struct asks *asks) {
    pthread_mutex_lock(&asks->mutex);
    while (asks->running > 0)
        pthread_cond_wait(&asks->ended, &asks->mutex);
    pthread_mutex_unlock(&asks->mutex);
}

static enum status check_program(struct jq_filter_scan *scan, struct err *err) {
    struct ask *ask = &scan->asks->list[0];
    *ask = (struct ask){0};
    ask_start(scan, ask, BYTES_NONE);
    wait_for_all(scan->asks);
    if (ask->status == STATUS_OK)
        return STATUS_OK;
    return err_set(err, ask->status, "where: %s", ask->err.text);
}

/* ---- one window ---- */

/* Starts jq on the whole envelope with its body. A letter that was removed since it was listed does
 * not match. */
static void ask_about(struct jq_filter_scan *scan, struct ask *ask, const struct letters_row *row) {
    struct envelope listed;
    struct message *held = NULL;
    *ask = (struct ask){0};
    buf_init_heap(&ask->input, ENVELOPE_TEXT_MAX);
    ask->damaged = !row->envelope.ptr ||
                   envelope_restore(row->envelope, scan->page, &listed, &ask->err) != STATUS_OK;
    if (ask->damaged)
        return;
    struct bytes id = listed.letter_id.len ? listed.letter_id : listed.id;
    enum status found = letters_get(scan->store->letters, listed.queue, id, &held, &ask->err);
    if (found != STATUS_OK) {
        ask->status = found == STATUS_NOT_FOUND ? STATUS_OK : found;
        return;
    }
    envelope_encode(&held->envelope, ENVELOPE_WITH_BODY, held->body, &ask->input);
    message_free(held);
    if (ask->input.overflow)
        ask->status = err_set(&ask->err, STATUS_TOO_LARGE, "the envelope is too large for jq");
    else
        ask_start(scan, ask, buf_view(&ask->input));
}

static void ask_about_all(struct jq_filter_scan *scan, const struct letters_row *rows,
                          size_t count) {
    assert(count <= JQ_FILTER_WINDOW);
    for (size_t i = 0; i < count; i++)
        ask_about(scan, &scan->asks->list[i], &rows[i]);
    wait_for_all(scan->asks);
    for (size_t i = 0; i < count; i++)
        buf_free(&scan->asks->list[i].input);
}

static void note_skipped(struct jq_filter_result *result, const struct ask *ask) {
    if (result->skipped++ == 0)
        result->first_skipped = ask->err;
}

/* Handles the results in order; returns how many rows were consumed before the limit was reached.
 */
static size_t judge(struct jq_filter_scan *scan, const struct letters_row *rows, size_t count,
                    jq_filter_row_fn *row, void *arg) {
    for (size_t i = 0; i < count; i++) {
        const struct ask *ask = &scan->asks->list[i];
        if (scan->matched == scan->query->filter.limit)
            return i;
        scan->result->looked_at++;
        if (ask->damaged)
            row(arg, &rows[i]);
        else if (ask->status != STATUS_OK)
            note_skipped(scan->result, ask);
        else if (ask->truthy) {
            row(arg, &rows[i]);
            scan->matched++;
        }
    }
    return count;
}

/* ---- one page ---- */

static enum status list(const struct jq_filter_scan *scan, size_t limit, struct letters_page *out,
                        struct err *err) {
    struct letters_query filter = scan->query->filter;
    filter.limit = limit;
    filter.cursor = scan->cursor;
    return letters_list(scan->store->letters, &filter, scan->page, out, err);
}

static bool has_seq(const struct letters_page *page, size_t count, uint64_t seq) {
    for (size_t i = 0; i < count; i++)
        if (page->rows[i].seq == seq)
            return true;
    return false;
}

static struct bytes keep(struct jq_filter_scan *scan, struct bytes cursor) {
    return cursor.ptr ? arena_dup(scan->kept, cursor) : BYTES_NONE;
}

/* Sets the cursor after the first `used` rows of a page. Only the store can make a cursor, so the
 * page is listed again, shorter. Rows may have left it meanwhile; then it is made shorter still,
 * since a row may be examined twice but must not be skipped. */
static enum status cursor_behind(struct jq_filter_scan *scan, const struct letters_page *page,
                                 size_t used, struct err *err) {
    assert(used < page->count);
    for (size_t limit = used; limit > 0; limit--) {
        struct letters_page again;
        enum status status = list(scan, limit, &again, err);
        if (status != STATUS_OK)
            return status;
        if (again.count > 0 && has_seq(page, used, again.rows[again.count - 1].seq)) {
            scan->result->cursor = keep(scan, again.cursor);
            return STATUS_OK;
        }
    }
    scan->result->cursor = scan->cursor;
    return STATUS_OK;
}

static bool is_out_of_time(const struct jq_filter_scan *scan) {
    struct clock *clock = scan->query->clock;
    return clock && clock_now(clock).mono.ms >= scan->until.ms;
}

static bool is_over(struct jq_filter_scan *scan) {
    const struct query *query = scan->query;
    scan->gone = query->gone && query->gone(query->asker);
    scan->result->stopped = scan->result->looked_at >= QUERY_WHERE_SCAN_MAX || is_out_of_time(scan);
    return scan->gone || scan->result->stopped || scan->matched == query->filter.limit;
}

/* Returns how many rows of the page were consumed. */
static size_t scan_rows(struct jq_filter_scan *scan, const struct letters_page *page,
                        jq_filter_row_fn *row, void *arg) {
    size_t used = 0;
    bool over = false;
    while (used < page->count && !over) {
        size_t left = page->count - used, count = left < JQ_FILTER_WINDOW ? left : JQ_FILTER_WINDOW;
        ask_about_all(scan, page->rows + used, count);
        used += judge(scan, page->rows + used, count, row, arg);
        over = is_over(scan);
    }
    return used;
}

static enum status scan_page(struct jq_filter_scan *scan, jq_filter_row_fn *row, void *arg,
                             struct err *err) {
    struct letters_page page;
    enum status status = list(scan, JQ_FILTER_PAGE, &page, err);
    if (status != STATUS_OK)
        return status;
    size_t used = scan_rows(scan, &page, row, arg);
    scan->result->behind = page.unlisted;
    scan->result->cursor = keep(scan, page.cursor);
    if (scan->gone)
        return err_set(err, STATUS_BUSY, "the client disconnected");
    return used < page.count ? cursor_behind(scan, &page, used, err) : STATUS_OK;
}

static enum status scan_all(struct jq_filter_scan *scan, jq_filter_row_fn *row, void *arg,
                            struct err *err) {
    enum status status;
    do {
        struct arena page;
        arena_init_heap(&page, PAGE_ARENA_CHUNK);
        scan->page = &page;
        status = scan_page(scan, row, arg, err);
        arena_free(&page);
        scan->cursor = scan->result->cursor;
    } while (status == STATUS_OK && scan->cursor.ptr && !is_over(scan));
    scan->result->stopped &= scan->cursor.ptr && scan->matched < scan->query->filter.limit;
    return status;
}

enum status jq_filter_run(struct store *store, struct jq *jq, const struct query *query,
                          struct arena *arena, jq_filter_row_fn *row, void *arg,
                          struct jq_filter_result *out, struct err *err) {
    assert(jq && query->where.len > 0);
    struct asks asks = {.running = 0};
    struct jq_filter_scan scan = {.store = store,
                                  .jq = jq,
                                  .query = query,
                                  .kept = arena,
                                  .asks = &asks,
                                  .cursor = query->filter.cursor,
                                  .result = out};
    memset(out, 0, sizeof *out);
    if (query->clock)
        scan.until.ms = clock_now(query->clock).mono.ms + QUERY_WHERE_MS;
    pthread_mutex_init(&asks.mutex, NULL);
    pthread_cond_init(&asks.ended, NULL);
    enum status status = check_program(&scan, err);
    if (status == STATUS_OK)
        status = scan_all(&scan, row, arg, err);
    pthread_cond_destroy(&asks.ended);
    pthread_mutex_destroy(&asks.mutex);
    return status;
}
