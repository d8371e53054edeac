/* jq_check: whether a program compiles, checked by the same helpers that would run it. */
#ifndef JQ_JQ_CHECK_H
#define JQ_JQ_CHECK_H

#include "port/jq.h"

/* Compiles without running; waits for a helper. INVALID: err has the compiler's message. */
enum status jq_check(struct jq *jq, struct bytes program, struct err *err);

#endif
