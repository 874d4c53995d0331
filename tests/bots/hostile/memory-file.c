/* Fills 400 MiB of memory as files without a name. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    static char some[4 << 20];
    memset(some, 1, sizeof some);
    for (int i = 0; i < 10; i++) {
        int file = memfd_create("x", 0);
        if (file < 0)
            return -1;
        for (int j = 0; j < 10; j++)
            if (write(file, some, sizeof some) != sizeof some)
                return -1;
    }
    return 0;
}
