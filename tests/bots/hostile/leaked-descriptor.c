/* Writes to whatever descriptor was left open. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    for (int fd = 3; fd < 256; fd++)
        if (write(fd, "forged\n", 7) == 7)
            return 0;
    return -1;
}
