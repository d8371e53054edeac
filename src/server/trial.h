/* trial: whether the store can commit, for those who ask.
 *
 * What the store knows of that is how its last commit went. Where nobody sends anything to a server
 * that cannot store it there is no next one, so whoever asks after a failure has the store try: one
 * commit, as large as a large message, that changes nothing. */
#ifndef SERVER_TRIAL_H
#define SERVER_TRIAL_H

struct request;

/* Calls `answer` when the store's health is as it is now: at once, or on a worker when a trial is
 * over. From a worker, which is not kept waiting. */
void trial_before(struct request *request, void (*answer)(struct request *request));

#endif
