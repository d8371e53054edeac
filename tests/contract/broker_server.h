/* broker_server: a server of a contract test's own: a process in a temporary folder, on a port that
 * is free. */
#ifndef BROKER_SERVER_H
#define BROKER_SERVER_H

#include <stdbool.h>

/* Makes the folder and chooses the port, for all lives of the server. False: there is no such
 * command here. */
bool broker_server_prepare(const char *command);
const char *broker_server_folder(void);
const char *broker_server_port(void);
/* Starts it and waits until `answers`; fails the test when it does not. */
void broker_server_run(const char *const *command, bool (*answers)(void));
void broker_server_kill(void); /* -9 */
void broker_server_clean(void);

#endif
