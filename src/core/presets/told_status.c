/* told_status: see the header. */
#include "core/presets/told_status.h"

#include <string.h>

#include "base/text/ascii.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

static bool is_one_of(struct bytes word, const struct bytes *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (bytes_eq_nocase(word, words[i]))
            return true;
    return false;
}

/* A message of several lines, or with quotes or brackets, may contain input. */
static bool may_quote(struct bytes message) {
    for (size_t i = 0; i < message.len; i++)
        if ((unsigned char)message.ptr[i] < ' ' || (unsigned char)message.ptr[i] > '~' ||
            strchr("\"'`()[]{}<>", message.ptr[i]))
            return true;
    return false;
}

static struct bytes next_word(struct bytes *rest) {
    size_t from = 0;
    while (from < rest->len && rest->ptr[from] == ' ')
        from++;
    size_t to = from;
    while (to < rest->len && rest->ptr[to] != ' ')
        to++;
    struct bytes word = bytes_cut(*rest, from, to);
    *rest = bytes_cut(*rest, to, rest->len);
    return word;
}

static struct bytes without_stop(struct bytes word) {
    while (word.len > 0 && strchr(".,;:!", word.ptr[word.len - 1]))
        word.len--;
    return word;
}

static int status_of(struct bytes word) {
    int status = 0;
    if (word.len != 3)
        return 0;
    for (size_t i = 0; i < word.len; i++) {
        if (!ascii_is_digit(word.ptr[i]))
            return 0;
        status = status * 10 + (word.ptr[i] - '0');
    }
    return status == 429 || (status >= 500 && status <= 599) ? status : 0;
}

/* Words that introduce a status and nothing else. */
static bool introduces(struct bytes word, struct bytes before) {
    static const struct bytes openings[] = {
        BYTES("returned"), BYTES("answered"), BYTES("responded"), BYTES("status"),
        BYTES("code"),     BYTES("http"),     BYTES("error")};
    static const struct bytes with[] = {BYTES("failed"), BYTES("answered"), BYTES("responded"),
                                        BYTES("replied")};
    return is_one_of(word, openings, COUNT(openings)) || bytes_starts(word, BYTES("HTTP/")) ||
           (bytes_is(word, "with") && is_one_of(before, with, COUNT(with)));
}

/* Words with numbers of their own: "no such order 503" is not a status. */
static bool is_numbered(struct bytes word) {
    static const struct bytes nouns[] = {
        BYTES("id"),      BYTES("order"),  BYTES("item"),     BYTES("line"),    BYTES("row"),
        BYTES("page"),    BYTES("user"),   BYTES("customer"), BYTES("product"), BYTES("account"),
        BYTES("invoice"), BYTES("number"), BYTES("no"),       BYTES("value"),   BYTES("key"),
        BYTES("port"),    BYTES("size"),   BYTES("count"),    BYTES("index"),   BYTES("offset"),
        BYTES("of"),      BYTES("is"),     BYTES("was"),      BYTES("than"),    BYTES("to"),
        BYTES("room"),    BYTES("and"),    BYTES("or"),
    };
    return is_one_of(word, nouns, COUNT(nouns));
}

int told_status(struct bytes message) {
    struct bytes rest = bytes_trim(message), word = BYTES_NONE, before = BYTES_NONE;
    if (rest.len > TOLD_STATUS_MESSAGE_MAX || may_quote(rest))
        return 0;
    while (rest.len > 0) {
        struct bytes next = next_word(&rest);
        int status = status_of(without_stop(next));
        struct bytes last = without_stop(word);
        bool colon = word.len > 0 && word.ptr[word.len - 1] == ':';
        if (status && introduces(last, before))
            return status;
        if (colon && !introduces(last, before))
            return 0; /* the origin of the following text is unknown */
        if (status && rest.len == 0 && last.len > 0 && !colon && !is_numbered(last))
            return status;
        before = last;
        word = next;
    }
    return 0;
}
