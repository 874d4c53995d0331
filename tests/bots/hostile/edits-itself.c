/* Replaces its own program. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    if (chmod(argv[0], 0755) < 0 || rename(argv[0], beside(argv[0], "old")) < 0)
        return -1;
    return 0;
}
