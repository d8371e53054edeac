/* envelope_fields: the envelope's members as data: name, number, form and offset.
 *
 * One table serves JSON and the stored form, in both directions, so that everything written can be
 * read. Members are written in the order of the tables; a reader accepts any order and skips
 * members that it does not know.
 *
 * A member's number is part of stored bytes for ever: a new member gets the next free number of its
 * section, and the number of a removed member is never reused. */
#ifndef CORE_ENVELOPE_ENVELOPE_FIELDS_H
#define CORE_ENVELOPE_ENVELOPE_FIELDS_H

#include "core/envelope/envelope.h"

/* The type of a member in its struct, and its form in JSON. */
enum envelope_form {
    FORM_TEXT,          /* struct bytes; empty is null */
    FORM_OPTIONAL_TEXT, /* struct bytes; left out when empty */
    FORM_MAYBE_TEXT,    /* struct bytes, any bytes; only a NULL pointer is null */
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
    FORM_ID,      /* the whole envelope: its letter id, otherwise its message id. Not read back */
    FORM_CAUSE,   /* the whole envelope: null unless it is a letter or waits to become one */
    FORM_HEADERS, /* the whole envelope */
    FORM_HEADER_PAIRS,  /* the same; only read: FORM_HEADERS writes it as well */
    FORM_HISTORY,       /* the whole envelope */
    FORM_BODY,          /* not part of the envelope: the caller's body */
    FORM_VERDICT,       /* a whole note: "ok" and "interrupted" besides the verdicts */
    FORM_SECTION,       /* a nested object, of the same struct */
    FORM_MAYBE_SECTION, /* the same; null when all its texts are empty */
    FORM_FAILURE,       /* the same; null when the message never failed */
    FORM_COUNT
};

/* Bits: the forms in which a member is written. */
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
