/* columns: the columns of lists of queues, DLQs, alerts, replays and adoptions. Each is defined
 * once; a verb selects columns and their order. */
#ifndef CLI_VIEW_COLUMNS_H
#define CLI_VIEW_COLUMNS_H

#include "cli/view/listing.h"

enum columns_of { COLUMNS_QUEUE, COLUMNS_DLQ, COLUMNS_ALERT, COLUMNS_REPLAY, COLUMNS_ADOPTION };

/* `shown`: titles separated by commas, such as "QUEUE,STATE"; an unknown title is a bug. */
void columns_print(const struct story *story, enum columns_of of, const char *shown,
                   struct json array);
/* Appends the member `adoptions` of an answer; nothing if there are none. */
void columns_adoptions(const struct story *story, struct json answer);

#endif
