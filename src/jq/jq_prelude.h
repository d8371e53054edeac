/* jq_prelude: the definitions that jq_exact.c puts in front of a program (jq_exact.h). '~' stands
 * for the mark. */
#ifndef JQ_JQ_PRELUDE_H
#define JQ_JQ_PRELUDE_H

extern const char jq_prelude[];

#endif
