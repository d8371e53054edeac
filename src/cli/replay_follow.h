/* replay_follow: waits for the end of a replay and shows how far it has come. */
#ifndef CLI_REPLAY_FOLLOW_H
#define CLI_REPLAY_FOLLOW_H

#include "cli/cli.h"
#include "cli/client.h"

/* `answer` is what the server said when it started, and is used up. Returns the exit code: 0 done
 * or detached, 1 aborted. */
int replay_follow(const struct cli_env *env, struct client *client, struct buf *answer,
                  bool detach);

#endif
