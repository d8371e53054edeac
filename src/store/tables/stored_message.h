/* held: a message as the port hands it out, made from its stored bytes. */
#ifndef STORE_TABLES_STORED_MESSAGE_H
#define STORE_TABLES_STORED_MESSAGE_H

#include "port/store.h"

/* What is stored of a message. */
struct stored_message_parts {
    uint64_t seq;
    struct bytes envelope, body;
    struct bytes mark;          /* ptr NULL: none */
    const enum state *state;    /* the envelope's, whatever it says; NULL: as it says */
    struct body_memory *memory; /* where its body is counted; NULL: nowhere */
};

/* Copies all. CORRUPT when the envelope cannot be read; BUSY when there is no memory for the body.
 */
enum status stored_message_new(const struct stored_message_parts *parts, struct message **out,
                               struct err *err);

#endif
