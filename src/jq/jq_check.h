/* jq_check: does a program compile? Asked of the same helpers that would run it. */
#ifndef JQ_JQ_CHECK_H
#define JQ_JQ_CHECK_H

#include "port/jq.h"

/* Compiles without running; waits. INVALID: err has the compiler's text. */
enum status jq_check(struct jq *jq, struct bytes program, struct err *err);

#endif
