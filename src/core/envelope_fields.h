/* envelope_fields: the envelope's members as data: which one stands where and in which form.
 *
 * One table serves JSON and the stored form, in both directions, so that what is written can be
 * read. Members are written in the order of the tables; a reader takes them in any order and passes
 * over what it does not know.
 *
 * A member's number stands in stored bytes for ever: a new member gets the next free one of its
 * section, and the number of a member that is gone is not used again. */
#ifndef CORE_ENVELOPE_FIELDS_H
#define CORE_ENVELOPE_FIELDS_H

#include "core/envelope.h"

/* How a member is stored in its struct and spelled in JSON. */
enum envelope_form {
    FORM_TEXT,          /* struct bytes; empty is null */
    FORM_OPTIONAL_TEXT, /* struct bytes; left out when empty */
    FORM_MAYBE_TEXT,    /* struct bytes, whatever they are; only a NULL pointer is null */
    FORM_OBJECT,        /* struct bytes of a JSON object, kept to the byte; empty is null */
    FORM_CONTEXT,       /* the same; empty is {} */
    FORM_TIME,          /* struct wall; never is null */
    FORM_U32,           /* uint32_t */
    FORM_SIZE,          /* uint64_t */
    FORM_I64,           /* int64_t */
    FORM_MAYBE_I64,     /* int64_t; -1 is null */
    FORM_MAYBE_INT,     /* int; 0 is null */
    FORM_BOOL,          /* bool */
    FORM_FLAG,          /* bool; left out when false */
    FORM_HASH,          /* char[65]; "" is null */
    FORM_FINGERPRINT,   /* uint64_t as 16 hex digits */
    FORM_STATE,         /* enum state */
    FORM_KIND,          /* enum kind */
    FORM_RESOLUTION,    /* enum resolution; none is null */
    FORM_ID,            /* the whole envelope: its letter id, else its message id. Not read back */
    FORM_CAUSE,         /* the whole envelope: null when it is no letter and awaits none */
    FORM_HEADERS,       /* the whole envelope */
    FORM_HEADER_PAIRS,  /* the same; only read: FORM_HEADERS writes it beside itself */
    FORM_HISTORY,       /* the whole envelope */
    FORM_BODY,          /* not of the envelope at all: written from the caller's body */
    FORM_VERDICT,       /* a whole note: "ok" and "interrupted" besides the verdicts */
    FORM_SECTION,       /* an object of its own, from the same struct */
    FORM_MAYBE_SECTION, /* the same; null when all its texts are empty */
    FORM_FAILURE,       /* the same; null when the message never failed */
    FORM_COUNT
};

/* Bits: what a member is written in. */
enum {
    IN_BODY = 1 << ENVELOPE_WITH_BODY,
    IN_ROW = 1 << ENVELOPE_ROW,
    IN_LINE = 1 << ENVELOPE_LINE,
    IN_STORED = 1 << 3,
    IN_ALL = IN_STORED | IN_BODY | IN_ROW | IN_LINE,
};

enum { ENVELOPE_NUMBER_MAX = 63 };

struct envelope_section;

struct envelope_field {
    const char *name;
    uint8_t number; /* in its section; 1 to ENVELOPE_NUMBER_MAX */
    enum envelope_form form;
    unsigned parts;
    size_t offset;
    const struct envelope_section *section;
};

struct envelope_section {
    const struct envelope_field *fields;
    size_t count;
};

extern const struct envelope_section envelope_fields;      /* of struct envelope */
extern const struct envelope_section envelope_fields_note; /* of struct envelope_note */

#endif
