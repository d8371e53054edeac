/* store_probe: finds out whether a store whose last commit failed can commit again.
 *
 * The store reports the result of its last commit. If no client sends anything, there is no next
 * commit, and health would stay bad after the disk has room again. So a health check or a scrape of
 * the metrics that finds the store unwritable starts one commit, as large as a large message, that
 * changes nothing. The check does not wait for it, since it may take a minute on a full disk; a
 * later check sees its result. */
#ifndef SERVER_STORE_PROBE_H
#define SERVER_STORE_PROBE_H

struct server;

/* Starts a probe commit, if the last commit failed and no probe is in progress. */
void store_probe_begin(struct server *server);

#endif
