/* convention_row: the rows behind convention.h.
 *
 * A row is data: which headers, members of a JSON body or members of the source hold which fact.
 * Anything else is done by the row's `read` function. If several fields give one fact, the first
 * that is present counts. */
#ifndef TRIAGE_CONVENTION_ROW_H
#define TRIAGE_CONVENTION_ROW_H

#include "port/store.h"
#include "triage/adopt/formats/convention.h"

enum convention_fact {
    FACT_TYPE,    /* of the error */
    FACT_MESSAGE, /* of the error */
    FACT_FAILURE, /* type and message in one: "ValidationError: quantity" */
    FACT_TRACE,
    FACT_REASON,
    FACT_CATEGORY,
    FACT_QUEUE,  /* the origin's name, where it differs from its place */
    FACT_PLACE,  /* the origin: topic, queue, subject, list */
    FACT_TOPIC,  /* the topic named by a record besides its queue */
    FACT_ORIGIN, /* the whole source as JSON, where a place is not enough */
    FACT_PARTITION,
    FACT_OFFSET,
    FACT_EXCHANGE,
    FACT_ROUTING_KEY,
    FACT_ATTEMPTS,
    FACT_RETRIES,      /* attempts without the first */
    FACT_ATTEMPT_NEXT, /* number of the next attempt */
    FACT_ATTEMPTS_MAX,
    FACT_RETRIES_MAX,
    FACT_CREATED_AT,
    FACT_FIRST_FAILURE_AT,
    FACT_LAST_FAILURE_AT,
    FACT_DEAD_AT,
    FACT_RETRY_AT, /* when its system would retry it */
    FACT_RESOLVED_AT,
    FACT_ID,
    FACT_KEY,
    FACT_BODY,
    FACT_HEADERS, /* the original's, as a JSON object */
    FACT_TASK_ID,
    FACT_TASK_TYPE,
    FACT_INSTANCE,
    FACT_VERSION,
    FACT_BESIDE, /* a member of the context */
    FACT_COUNT
};

/* The format of a fact. */
enum convention_form {
    AS_TEXT,
    AS_LOWER,     /* a word in capitals, to be lowered */
    AS_SEGMENT,   /* the part after the last slash of an address */
    AS_LOCAL,     /* the part before an @ */
    AS_DECIMAL,   /* a whole number in digits */
    AS_BINARY,    /* a whole number: two's complement, the high byte first, 1 to 8 bytes */
    AS_RFC3339,   /* a time */
    AS_NET_TIME,  /* "2026-11-15 14:09:47:123456 Z" */
    AS_EPOCH,     /* seconds since 1970 with a fraction, or milliseconds: by their size */
    AS_BINARY_MS, /* milliseconds since 1970, as AS_BINARY */
    AS_JSON,      /* a member's JSON value */
};

enum convention_where {
    IN_HEADERS,
    IN_JSON,   /* the body */
    IN_SOURCE, /* the envelope's source */
};

struct convention_field {
    const char *at; /* a header's name (case-insensitive), or a path into the JSON */
    enum convention_fact fact;
    enum convention_form form;
    const char *beside; /* with FACT_BESIDE: the context's member */
    bool last;          /* of several headers with one name the last counts, not the first */
    bool own;           /* a header of the message from before it failed: it is sent back with it */
};

#define FIELD(name, what, how)                                                                     \
    { .at = (name), .fact = (what), .form = (how) }
#define LAST(name, what, how)                                                                      \
    { .at = (name), .fact = (what), .form = (how), .last = true }
#define BESIDE(name, member)                                                                       \
    { .at = (name), .fact = FACT_BESIDE, .beside = (member) }
#define LAST_BESIDE(name, member)                                                                  \
    { .at = (name), .fact = FACT_BESIDE, .beside = (member), .last = true }
#define OWN(name, what, how)                                                                       \
    { .at = (name), .fact = (what), .form = (how), .own = true }
#define OWN_BESIDE(name, member)                                                                   \
    { .at = (name), .fact = FACT_BESIDE, .beside = (member), .own = true }

/* A message with its parsed parts. */
struct convention_letter {
    const struct message *held;
    struct json body; /* JSON_NULL where it is not JSON */
    struct json source;
    struct bytes kind;                /* of its broker */
    const struct broker_kind *broker; /* set while facts are read; NULL: it is not known */
};

struct convention_facts;

enum { CONVENTION_PREFIXES_MAX = 5, CONVENTION_MEMBERS_MAX = 6 };

/* A row matches a message if all its conditions hold. */
struct convention {
    const char *name;
    const char *kind; /* the only broker that has it; NULL: any */
    enum convention_where where;
    const char
        *prefixes[CONVENTION_PREFIXES_MAX];      /* at least one header begins with one of these */
    const char *members[CONVENTION_MEMBERS_MAX]; /* all of these are present */
    bool (*fits)(const struct convention_letter *letter);
    const struct convention_field *fields;
    size_t field_count;
    bool mirror;  /* the format of impound's own mirror */
    bool history; /* the body has a list of earlier failures (convention_history.h) */
    void (*read)(struct convention_facts *facts); /* after the fields */
};

#define CONVENTION_FIELDS(table) .fields = (table), .field_count = sizeof(table) / sizeof *(table)

/* The rows of one file. */
struct convention_family {
    const struct convention *rows;
    size_t count;
};

extern const struct convention_family format_kafka, format_dotnet, format_generic, format_cloud,
    format_sidekiq, format_protobuf, format_nats, format_rabbitmq;

#endif
