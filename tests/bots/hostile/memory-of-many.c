/* Fills 400 MiB in four processes. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    for (int i = 0; i < 4; i++)
        if (fork() == 0) {
            char *some = malloc(100 << 20);
            if (some == NULL)
                _exit(1);
            fill(some, 100 << 20);
            hold();
            _exit(0);
        }
    int failed = 0, status;
    while (wait(&status) > 0)
        failed |= status;
    return failed;
}
