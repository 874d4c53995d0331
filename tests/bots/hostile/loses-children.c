/* Starts eight processes that fill 32 MiB each, waits until each has done so or has died, and answers: to the
   first question, not to the next. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    int ends[2];
    if (pipe(ends) < 0)
        return -1;
    for (int i = 0; i < 8; i++)
        if (fork() == 0) {
            close(ends[0]);
            char *some = malloc(32 << 20);
            if (some != NULL)
                fill(some, 32 << 20);
            close(ends[1]);
            hold();
            _exit(0);
        }
    close(ends[1]);
    wait_for(ends[0]);
    dprintf(1, "- A\n");
    return 0;
}
