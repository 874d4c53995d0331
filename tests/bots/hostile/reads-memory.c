/* Opens the memory of the process that is named. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    char path[64];
    snprintf(path, sizeof path, "/proc/%s/mem", argv[1]);
    return open(path, O_RDONLY) < 0 ? -1 : 0;
}
