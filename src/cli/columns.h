/* columns: the columns in which queues, DLQs, alerts, replays and adoptions are listed. Each stands
 * here once; a verb says which it shows, and in which order. */
#ifndef CLI_COLUMNS_H
#define CLI_COLUMNS_H

#include "cli/listing.h"

enum columns_of { COLUMNS_QUEUE, COLUMNS_DLQ, COLUMNS_ALERT, COLUMNS_REPLAY, COLUMNS_ADOPTION };

/* `shown`: titles with a comma between them, such as "QUEUE,STATE"; one that there is none of is a
 * bug. */
void columns_print(const struct story *story, enum columns_of of, const char *shown,
                   struct json array);
/* The member `adoptions` of an answer, below what was printed; nothing where there are none. */
void columns_adoptions(const struct story *story, struct json answer);

#endif
