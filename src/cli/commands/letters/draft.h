/* draft: builds the push object of one message from the command line (DESIGN §6). */
#ifndef CLI_COMMANDS_DRAFT_H
#define CLI_COMMANDS_DRAFT_H

#include "base/buf.h"
#include "base/status.h"
#include "cli/options.h"

/* Appends {"body":…} with the exact bytes of a JSON body, or {"body_base64":…,"content_type":…} for
 * anything else and whenever --content-type is not application/json. USAGE: an option is invalid.
 */
enum status draft_put(const struct options *options, struct bytes body, struct buf *out,
                      struct err *err);

#endif
