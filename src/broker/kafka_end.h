/* kafka_end: a log may end with what nobody is given: markers of transactions, and the records of
 * those that were aborted. Reading passes over them, and is at the end all the same. */
#ifndef BROKER_KAFKA_END_H
#define BROKER_KAFKA_END_H

#include "broker/kafka_hand.h"

/* All that this partition of ours has for anybody was read: none of it is lag, until its log is
 * seen to have grown. */
void kafka_end_reached(struct kafka_hand *hand, int32_t number);

#endif
