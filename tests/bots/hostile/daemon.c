/* Leaves a daemon. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            signal(SIGTERM, SIG_IGN);
            signal(SIGHUP, SIG_IGN);
            for (int i = 0; i < 60; i++)
                wait_ms(1000);
        }
        _exit(0);
    }
    return 0;
}
