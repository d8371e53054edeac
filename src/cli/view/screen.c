/* screen: ANSI escape sequences, raw mode and signals. */
#include "cli/view/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"

#define ENTER      "\x1b[?1049h\x1b[?25l" /* alternate screen, cursor hidden */
#define LEAVE      "\x1b[?25h\x1b[?1049l"
#define HOME       "\x1b[H"
#define CLEAR_END  "\x1b[K"
#define CLEAR_REST "\x1b[J"

enum { ROWS_DEFAULT = 24, FRAME_MAX = 1 << 20 };

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { ENDING_COUNT = sizeof ending / sizeof *ending };

static struct termios before;
static sigset_t waiting; /* the signal mask during the wait, and only then */
static volatile sig_atomic_t ended, resized;

static void on_signal(int number) {
    if (number == SIGWINCH)
        resized = 1;
    else
        ended = 1;
}

/* Signals are unblocked only in screen_wait, so that none is missed between a check and a wait. */
static void take_signals(void) {
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, SIGWINCH);
    sigaction(SIGWINCH, &action, NULL);
    for (size_t i = 0; i < ENDING_COUNT; i++) {
        sigaddset(&ours, ending[i]);
        sigaction(ending[i], &action, NULL);
    }
    signal(SIGTSTP, SIG_IGN); /* a stopped view would leave the terminal in raw mode */
    sigprocmask(SIG_BLOCK, &ours, &waiting);
}

static void put(struct bytes text) {
    while (text.len > 0) {
        ssize_t written = write(STDOUT_FILENO, text.ptr, text.len);
        if (written < 0 && errno != EINTR) {
            ended = 1; /* the terminal is gone */
            return;
        }
        if (written > 0)
            text = bytes_cut(text, (size_t)written, text.len);
    }
}

bool screen_enter(void) {
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &before) != 0)
        return false;
    struct termios raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    take_signals();
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
    put(BYTES(ENTER));
    return true;
}

void screen_leave(void) {
    put(BYTES(LEAVE));
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
}

static size_t rows(void) {
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0)
        return ROWS_DEFAULT;
    return size.ws_row;
}

/* The last line has no end of line, which would scroll the first away. */
void screen_draw(struct bytes text) {
    struct buf frame;
    buf_init_heap(&frame, FRAME_MAX);
    buf_str(&frame, HOME);
    for (size_t left = rows(); text.len > 0 && left > 0; left--) {
        size_t len = bytes_find(text, BYTES("\n"));
        buf_bytes(&frame, bytes_cut(text, 0, len));
        buf_str(&frame, CLEAR_END);
        text = bytes_cut(text, len + 1, text.len);
        if (text.len > 0 && left > 1)
            buf_str(&frame, "\r\n");
    }
    buf_str(&frame, CLEAR_REST);
    put(buf_view(&frame));
    buf_free(&frame);
}

static bool asks_to_quit(void) {
    char key;
    ssize_t got = read(STDIN_FILENO, &key, 1);
    return got == 0 || (got > 0 && (key == 'q' || key == 'Q' || key == '\x03'));
}

enum screen_event screen_wait(int64_t ms) {
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    int ready = ended || resized ? 0 : ppoll(&input, 1, &time, &waiting);
    if (ended || (ready > 0 && asks_to_quit()))
        return SCREEN_QUIT;
    bool redraw = resized || ready > 0;
    resized = 0;
    return redraw ? SCREEN_RESIZED : SCREEN_TIME_OVER;
}
