/* Leaves directories within each other, more than a program may have open at once. */
#include "hostile.h"

#ifndef LEVELS
#define LEVELS 1100
#endif

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    if (chdir(in_scratch("")) < 0)
        return -1;
    for (int i = 0; i < LEVELS; i++) {
        close(open("file", O_WRONLY | O_CREAT, 0600));
        /* The last one is closed to everybody. */
        if (mkdir("d", i == LEVELS - 1 ? 0 : 0700) < 0 || (i < LEVELS - 1 && chdir("d") < 0))
            return -1;
    }
    return 0;
}
