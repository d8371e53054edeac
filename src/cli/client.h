/* client: calls of the server, each sent once: a POST without an answer is not repeated, since it
 * may have been executed. */
#ifndef CLI_CLIENT_H
#define CLI_CLIENT_H

#include <stdio.h>

#include "base/buf.h"
#include "base/json/json.h"
#include "base/status.h"
#include "cli/view/progress.h"

struct client;

struct client_call {
    const char *path; /* from path_text */
    const char *content_type;
    struct bytes body; /* BYTES_NONE: GET, else POST */
};

struct client *client_new(const char *url);
void client_free(struct client *client);

/* Replaces *answer (a heap buf) with the body of the answer. UNREACHABLE: no answer. USAGE: the URL
 * is invalid. NOT_FOUND: 404. INVALID: refused otherwise, or the answer is not JSON. The error is
 * the problem document's detail. */
enum status client_send(struct client *client, const struct client_call *call, struct buf *answer,
                        struct err *err);
/* The same with PATCH. */
enum status client_patch(struct client *client, const struct client_call *call, struct buf *answer,
                         struct err *err);
/* Writes the answer, which may be large and need not be JSON, to a file as it arrives. */
enum status client_fetch(struct client *client, const struct client_call *call, FILE *into,
                         struct progress *progress, struct err *err);
/* Of the last answer: letters skipped because --where failed on them. */
uint64_t client_skipped(const struct client *client);
/* … and letters skipped because they are damaged. */
uint64_t client_damaged(const struct client *client);
/* The line of the request that the last refusal names, from 1; 0: none. */
size_t client_refused_line(const struct client *client);

#endif
