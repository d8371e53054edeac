/* store_probe: whether the store can commit, for those who ask.
 *
 * What the store knows of that is how its last commit went. Where nobody sends anything to a server
 * that cannot store it there is no next one, so a question after a failure has the store try: one
 * commit, as large as a large message, that changes nothing. Nobody waits for it: on a full disk it
 * may take a minute, and health is told at once. Its result is in the answer to a later question.
 */
#ifndef SERVER_STORE_PROBE_H
#define SERVER_STORE_PROBE_H

struct server;

/* Has the store try, if its last commit failed and no probe is under way. */
void store_probe_begin(struct server *server);

#endif
