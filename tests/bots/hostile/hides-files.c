/* Writes 150 MiB into files that it has removed but not closed. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    static char some[1 << 20];
    memset(some, 1, sizeof some);
    for (int i = 0; i < 5; i++) {
        int file = open(in_scratch("hidden"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (file < 0 || unlink(in_scratch("hidden")) < 0)
            return -1;
        for (int j = 0; j < 30; j++)
            if (write(file, some, sizeof some) != sizeof some)
                return -1;
    }
    hold();
    return 0;
}
