/* report: reads and checks the report of a task that failed elsewhere (SEMANTICS 13.3). Pure. */
#ifndef SERVER_REPORT_H
#define SERVER_REPORT_H

#include "port/store.h"

enum {
    REPORT_TASK_TYPE_MAX = 255,
    REPORT_ATTEMPTS_MAX = 1000000,
    REPORT_BESIDE_MAX = 4096, /* bytes of an entry's id and status in the context, escaped */
};

/* Fills a message that is not in the store yet, and the outcome of its last attempt; all texts live
 * in held's arena. envelope.attempts is the count of the report, which includes the failed attempt
 * (1 if the report has none). An `id` beside `task_id`, and a `status` in words, are put into the
 * context as `entry` and `status`. INVALID: err has the reason. */
enum status report_parse(struct json object, struct bytes queue, struct wall now,
                         struct message *held, struct outcome *outcome, struct err *err);

#endif
