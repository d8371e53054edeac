/* jq_prelude: what jq_exact.c puts before a program (see jq_exact.h). '~' stands for the mark. */
#ifndef JQ_JQ_PRELUDE_H
#define JQ_JQ_PRELUDE_H

extern const char jq_prelude[];

#endif
