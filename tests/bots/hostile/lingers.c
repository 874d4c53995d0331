/* Leaves a daemon, a child that is stopped and one that is not, and lives on. */
#include "hostile.h"

static void live_on(void)
{
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    for (int i = 0; i < 60; i++)
        wait_ms(1000);
    _exit(0);
}

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    if (fork() == 0) {
        setsid();
        if (fork() == 0)
            live_on();
        _exit(0);
    }
    if (fork() == 0)
        live_on();
    if (fork() == 0) {
        raise(SIGSTOP);
        live_on();
    }
    live_on();
    return 0;
}
