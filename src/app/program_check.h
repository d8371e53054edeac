/* program_check: the jq programs of a configuration. */
#ifndef APP_PROGRAM_CHECK_H
#define APP_PROGRAM_CHECK_H

#include "config/config.h"

/* Compiles every jq program; blocks. INVALID: `mistakes` has a line for each error, as with
 * config_load. */
enum status program_check(const struct config *config, struct buf *mistakes);

#endif
