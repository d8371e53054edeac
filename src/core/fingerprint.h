/* fingerprint: one number for one cause of failure. Ids, numbers, hex and quoted text are masked,
 * so that "order 17 not found" and "order 18 not found" are the same failure. */
#ifndef CORE_FINGERPRINT_H
#define CORE_FINGERPRINT_H

#include "base/buf.h"
#include "core/trace/trace.h"

enum { FINGERPRINT_VERSION = 1, FINGERPRINT_TEXT_SIZE = 17, FINGERPRINT_FRAMES = 5 };

/* Appends the text with its variable parts replaced by <n>, <hex>, <id>, <str>. */
void fingerprint_mask(struct bytes text, struct buf *out);
/* Error type, masked message, top in-app frames (function and file without line numbers). */
uint64_t fingerprint_of(struct bytes error_type, struct bytes error_message,
                        struct bytes stack_trace);
/* 16 hex digits. */
const char *fingerprint_text(uint64_t fingerprint, char text[FINGERPRINT_TEXT_SIZE]);
bool fingerprint_parse(struct bytes text, uint64_t *out);

#endif
