/* Signals its parents. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    pid_t parent = getppid();
    if (parent <= 1)
        return errno = ESRCH, -1;
    return kill(parent, SIGCONT);
}
