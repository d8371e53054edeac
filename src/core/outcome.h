/* outcome: the end of one hand-over to a handler. A failed message is not an error of ours: it is
 * data that core judges. */
#ifndef CORE_OUTCOME_H
#define CORE_OUTCOME_H

#include "base/instant.h"
#include "core/words.h"

enum {
    OUTCOME_MESSAGE_MAX = 2048,    /* bytes of error_message kept */
    OUTCOME_STACK_MAX = 16 * 1024, /* bytes of stack_trace kept */
    OUTCOME_STACK_FRAMES_MAX = 20, /* frames of it, the last ones */
    OUTCOME_TYPE_MAX = 255,        /* bytes of error_type kept */
    OUTCOME_ANSWER_MAX = 4 << 20,  /* bytes of an answer; a larger one is a failure (KIND_ANSWER) */
};

/* The error_type of an item that its batch's handler listed as failed without details. */
#define OUTCOME_BATCH_ITEM "batch_item"

/* The error_type of an answer (KIND_ANSWER) that a rule of the queue matched … */
#define OUTCOME_ANSWER       "answer"
#define OUTCOME_ANSWER_EMPTY "the answer is empty" /* its message, in place of the beginning */
/* … of one that is too large to be kept … */
#define OUTCOME_TOO_LARGE    "answer_too_large"
/* … and of answers that look like success and are not (SEMANTICS §15): without a result, a stream
 * without its end, a filtered text, a model's refusal. */
#define OUTCOME_EMPTY_ANSWER "empty_answer"
#define OUTCOME_CUT_STREAM   "cut_stream"
#define OUTCOME_BLOCKED      "content_blocked"
#define OUTCOME_REFUSAL      "refusal"

enum ending {
    ENDING_OK,
    ENDING_FAILED,
    ENDING_INTERRUPTED, /* impound stopped it (drain, crash): neither an attempt nor a crash of the
                           message */
};

struct rule_header;

/* Texts are borrowed; a field that does not apply is 0 or empty. */
struct outcome {
    enum ending ending;
    enum kind kind; /* of a failure */
    int status;     /* HTTP status, for KIND_STATUS and reports that give one */
    int exit_code;  /* for KIND_EXIT */
    int signal;     /* for KIND_SIGNAL */
    struct bytes error_type;
    struct bytes error_message;
    struct bytes stack_trace;
    int64_t retry_after_ms; /* -1: none was given */
    bool has_verdict;       /* the handler itself gave the verdict */
    enum verdict verdict;
    struct bytes reason;              /* with has_verdict; may be empty */
    struct bytes version;             /* version of the consumer */
    struct bytes instance;            /* its process, as it names itself */
    struct wall failed_at;            /* of a report: when; 0: now */
    struct bytes answer, answer_type; /* of ENDING_OK and KIND_ANSWER, where the call wanted it … */
    const struct rule_header *answer_headers; /* … with its headers (http) */
    size_t answer_header_count;
    int answer_status; /* … and its status (http) */
    /* The connection that the call used, numbered in the order of opening; 0: none is known. */
    uint64_t connection;
    int64_t duration_ms;
};

#endif
