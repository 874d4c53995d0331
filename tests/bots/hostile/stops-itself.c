/* Stops itself, with a child that does not. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    if (fork() == 0)
        for (int i = 0; i < 60; i++)
            wait_ms(1000);
    raise(SIGSTOP);
    return 0;
}
