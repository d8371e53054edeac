/* A stream worker: one JSON line in, one JSON line out, until stdin ends (docs/stream.md). It adds
 * up the numbers of a message's body. JSON is read and written with jansson. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

/* False: something in the body is no number. */
static int add_up(const json_t *body, double *sum) {
    size_t index;
    json_t *value;
    *sum = 0;
    if (!json_is_array(body))
        return 0;
    json_array_foreach(body, index, value) {
        if (!json_is_number(value))
            return 0;
        *sum += json_number_value(value);
    }
    return 1;
}

static json_t *answer(const json_t *message) {
    double sum;
    json_t *id = json_object_get(message, "id");
    if (add_up(json_object_get(message, "body"), &sum))
        return json_pack("{s:O, s:b, s:f}", "id", id, "ok", 1, "result", sum);
    return json_pack("{s:O, s:b, s:s, s:s, s:i}", "id", id, "ok", 0, "error_type",
                     "ValidationError", "error_message", "the body is no list of numbers", "status",
                     422);
}

int main(void) {
    char *line = NULL;
    size_t size = 0;
    ssize_t len;
    while ((len = getline(&line, &size, stdin)) > 0) {
        json_t *message = json_loadb(line, (size_t)len, 0, NULL);
        json_t *reply = message ? answer(message) : NULL;
        if (!reply)
            return 65; /* EX_DATAERR: not a line of this protocol */
        json_dumpf(reply, stdout, JSON_COMPACT);
        putchar('\n');
        fflush(stdout); /* impound waits for the line */
        json_decref(reply);
        json_decref(message);
    }
    free(line);
    return 0;
}
