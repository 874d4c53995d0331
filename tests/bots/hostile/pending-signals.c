/* Has signals wait in its processes, of which its user may have only so many. */
#include "hostile.h"

#define PROCESSES 8
#define SIGNALS 500

static int waiting(void)
{
    sigset_t blocked;
    int sent = 0;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    while (sent < SIGNALS && sigqueue(getpid(), SIGRTMIN, (union sigval){0}) == 0)
        sent++;
    return sent;
}

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    int all = 0, ends[2], end[2];
    if (pipe(ends) < 0 || pipe(end) < 0)
        return -1;
    for (int i = 0; i < PROCESSES; i++) {
        if (fork() == 0) {
            int sent = waiting();
            close(end[1]);
            if (write(ends[1], &sent, sizeof sent) == sizeof sent)
                wait_for(end[0]);
            _exit(0);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int sent = 0;
        if (read(ends[0], &sent, sizeof sent) == sizeof sent)
            all += sent;
    }
    errno = EAGAIN;
    return all > 256 ? 0 : -1;
}
