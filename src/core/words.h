/* words: the fixed words of DESIGN §2 as enums with their texts. One word each, no synonyms. */
#ifndef CORE_WORDS_H
#define CORE_WORDS_H

#include "base/bytes.h"

#define VERDICT_LIST(X)                                                                            \
    X(RETRY, "retry") X(FALLBACK, "fallback") X(DLQ, "dlq") X(DISCARD, "discard") X(HALT, "halt")

#define CAUSE_LIST(X)                                                                              \
    X(TERMINAL, "terminal")                                                                        \
    X(EXHAUSTED, "exhausted")                                                                      \
    X(EXPIRED, "expired")                                                                          \
    X(CRASH, "crash")                                                                              \
    X(BLOCKED, "blocked")                                                                          \
    X(UNCLASSIFIED, "unclassified")                                                                \
    X(UNROUTABLE, "unroutable")                                                                    \
    X(OPERATOR, "operator")                                                                        \
    X(REPORTED, "reported")                                                                        \
    X(ADOPTED, "adopted")

#define KIND_LIST(X)                                                                               \
    X(TIMEOUT, "timeout")                                                                          \
    X(REFUSED, "refused")                                                                          \
    X(RESET, "reset")                                                                              \
    X(DNS, "dns")                                                                                  \
    X(TLS, "tls")                                                                                  \
    X(STATUS, "status")                                                                            \
    X(EXIT, "exit")                                                                                \
    X(SIGNAL, "signal")                                                                            \
    X(EXPIRED, "expired")                                                                          \
    X(REPORTED, "reported")                                                                        \
    X(EDIT, "edit")                                                                                \
    X(ANSWER, "answer")

/* Transitions: lifecycle.h. */
#define STATE_LIST(X)                                                                              \
    X(QUEUED, "queued")                                                                            \
    X(RUNNING, "running")                                                                          \
    X(PENDING_RETRY, "pending_retry")                                                              \
    X(RETRYING, "retrying")                                                                        \
    X(PENDING_REVIEW, "pending_review")                                                            \
    X(REPLAYING, "replaying")                                                                      \
    X(RESOLVED, "resolved")                                                                        \
    X(DISCARDED, "discarded")

#define RESOLUTION_LIST(X)                                                                         \
    X(NONE, "")                                                                                    \
    X(REPLAYED, "replayed")                                                                        \
    X(COMPENSATED, "compensated")                                                                  \
    X(BY_HAND, "by_hand")                                                                          \
    X(DUPLICATE, "duplicate")                                                                      \
    X(EXPIRED, "expired")

/* Each enum starts at 0 with its first word; <word>_text gives the spelling, <word>_parse reads it.
 */
#define WORD_ENUM_VERDICT(code, text)    VERDICT_##code,
#define WORD_ENUM_CAUSE(code, text)      CAUSE_##code,
#define WORD_ENUM_KIND(code, text)       KIND_##code,
#define WORD_ENUM_STATE(code, text)      STATE_##code,
#define WORD_ENUM_RESOLUTION(code, text) RESOLUTION_##code,

enum verdict { VERDICT_LIST(WORD_ENUM_VERDICT) VERDICT_COUNT };
enum cause { CAUSE_LIST(WORD_ENUM_CAUSE) CAUSE_COUNT };
enum kind { KIND_LIST(WORD_ENUM_KIND) KIND_COUNT };
enum state { STATE_LIST(WORD_ENUM_STATE) STATE_COUNT };
enum resolution { RESOLUTION_LIST(WORD_ENUM_RESOLUTION) RESOLUTION_COUNT };

const char *verdict_text(enum verdict verdict);
const char *cause_text(enum cause cause);
const char *kind_text(enum kind kind);
const char *state_text(enum state state);
const char *resolution_text(enum resolution resolution);
bool verdict_parse(struct bytes text, enum verdict *out);
bool cause_parse(struct bytes text, enum cause *out);
bool kind_parse(struct bytes text, enum kind *out);
bool state_parse(struct bytes text, enum state *out);
bool resolution_parse(struct bytes text, enum resolution *out);

#endif
