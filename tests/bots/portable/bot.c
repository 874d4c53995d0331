/* A bot for every system that has a C compiler: without arguments it plays (the first free cell, the first
 * piece left), with one it breaks the protocol in the way that the argument names.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#include <process.h>
#include <windows.h>
#define sleep(seconds) Sleep((seconds) * 1000)
#define close _close
#else
#include <unistd.h>
#endif

static int is(const char *mode, const char *name)
{
    return strcmp(mode, name) == 0;
}

static void wait_long(void)
{
    sleep(600);
    exit(0);
}

/* Starts this program again, to wait. */
static void start_another(const char *program)
{
#ifdef _WIN32
    _spawnl(_P_NOWAIT, program, "bot", "waits-alone", NULL);
#else
    if (fork() == 0)
        execl(program, "bot", "waits-alone", NULL);
#endif
}

/* Adds an answer to the text, which is written at once. */
static void answer(char *text, const char *board, char hand, const char *end)
{
    int cell = 0;
    while (board[cell] != '.')
        cell++;
    char gift = '-';
    for (char piece = 'A'; piece <= 'P' && gift == '-'; piece++)
        if (piece != hand && strchr(board, piece) == NULL)
            gift = piece;
    text += strlen(text);
    if (hand == '-')
        sprintf(text, "- %c%s", gift, end);
    else
        sprintf(text, "%d %c%s", cell + 1, gift, end);
}

int main(int count, char **arguments)
{
    const char *mode = count > 1 ? arguments[1] : "plays";
    if (is(mode, "waits-alone"))
        wait_long();
#ifdef _WIN32
    /* Otherwise every line ends in CRLF. */
    if (!is(mode, "plays"))
        _setmode(1, _O_BINARY);
#endif
    if (is(mode, "early")) {
        printf("1 A\n");
        fflush(stdout);
    }
    char board[64], hand[8];
    while (scanf("%63s %7s", board, hand) == 2) {
        if (is(mode, "hangs"))
            wait_long();
        if (is(mode, "exits"))
            exit(3);
        if (is(mode, "crashes"))
            *(volatile int *)0 = 0;
        if (is(mode, "closes")) {
            close(1);
            wait_long();
        }
        if (is(mode, "child")) {
            start_another(arguments[0]);
            wait_long();
        }
        if (is(mode, "part")) {
            printf("1");
            fflush(stdout);
            wait_long();
        }
        if (is(mode, "floods")) {
            for (int i = 0; i < 100000; i++)
                putchar('x');
            fflush(stdout);
            wait_long();
        }
        if (is(mode, "nonsense")) {
            printf("hello\n");
            fflush(stdout);
            continue;
        }
        if (is(mode, "beside"))
            fprintf(stderr, "asked with %s\n", hand);
        char text[32] = "";
        answer(text, board, hand[0], is(mode, "crlf") ? "\r\n" : "\n");
        if (is(mode, "twice"))
            answer(text, board, hand[0], "\n");
        fwrite(text, 1, strlen(text), stdout);
        fflush(stdout);
    }
    return 0;
}
