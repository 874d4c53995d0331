/* Writes 150 MiB into its directory for temporary files. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    static char some[1 << 20];
    memset(some, 1, sizeof some);
    for (int i = 0; i < 5; i++) {
        char name[16];
        snprintf(name, sizeof name, "fill-%d", i);
        int file = open(in_scratch(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (file < 0)
            return -1;
        for (int j = 0; j < 30; j++)
            if (write(file, some, sizeof some) != sizeof some)
                return -1;
        close(file);
    }
    hold();
    return 0;
}
