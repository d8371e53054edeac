/* What becomes of a head when its time is over. */
#include "test.h"

#include <sys/socket.h>
#include <unistd.h>

#include "server/door.h"

static void a_head_whose_time_is_over_is_judged_by_what_has_come(void **state) {
    (void)state;
    static const struct {
        const char *came;
        enum door_answer answer;
        const char *says;
    } rows[] = {
        {"", DOOR_GONE, ""},
        {"GET /x HTTP/1.1\r\nHo", DOOR_SHUT, "did not arrive within 50ms"},
        {"GET /x HTTP/1.1\r\nHost: h\r\n\r\n", DOOR_OPEN, ""},
        {"GET /x HTTP/7\r\n", DOOR_SHUT, "HTTP/1.1 400 "},
    };
    static struct door door;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int ends[2];
        char answer[1024] = "";
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        size_t len = strlen(rows[i].came);
        assert_int_equal(send(ends[0], rows[i].came, len, MSG_NOSIGNAL), (ssize_t)len);
        assert_int_equal(door_expire(&door, ends[1], 50), rows[i].answer);
        close(ends[1]);
        /* What was left unread makes a reset, but behind the answer. */
        (void)!recv(ends[0], answer, sizeof answer - 1, 0);
        if (*rows[i].says)
            assert_non_null(strstr(answer, rows[i].says));
        else
            assert_string_equal(answer, "");
        close(ends[0]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_whose_time_is_over_is_judged_by_what_has_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
