/* stored_message: makes a struct message from the stored bytes. */
#ifndef STORE_TABLES_STORED_MESSAGE_H
#define STORE_TABLES_STORED_MESSAGE_H

#include "port/store.h"

/* The stored parts of a message. */
struct stored_message_parts {
    uint64_t seq;
    struct bytes envelope, body;
    struct bytes mark;          /* ptr NULL: none */
    const enum state *state;    /* replaces the state in the envelope; NULL: as in the envelope */
    struct body_memory *memory; /* the account that the body is charged to; NULL: none */
};

/* Copies all parts. CORRUPT if the envelope cannot be read; BUSY if there is no memory for the
 * body. */
enum status stored_message_new(const struct stored_message_parts *parts, struct message **out,
                               struct err *err);

#endif
