/* Fills 400 MiB of its own memory. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    for (int i = 0; i < 100; i++) {
        char *some = malloc(4 << 20);
        if (some == NULL)
            return -1;
        fill(some, 4 << 20);
    }
    hold();
    return 0;
}
