/* Writes a file of 100 MiB. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    static char some[1 << 20];
    int file = open(in_scratch("large"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0)
        return -1;
    for (int j = 0; j < 100; j++)
        if (write(file, some, sizeof some) != sizeof some)
            return -1;
    return 0;
}
