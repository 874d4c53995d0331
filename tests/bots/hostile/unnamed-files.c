/* Writes 150 MiB into files that never had a name. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    static char some[1 << 20];
    memset(some, 1, sizeof some);
    for (int i = 0; i < 5; i++) {
        int file = open(in_scratch(""), O_WRONLY | O_TMPFILE, 0600);
        if (file < 0)
            return -1;
        for (int j = 0; j < 30; j++)
            if (write(file, some, sizeof some) != sizeof some)
                return -1;
    }
    return 0;
}
