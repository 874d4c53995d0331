/* Reads the environment of the process that is named. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    char path[64], some[4096];
    snprintf(path, sizeof path, "/proc/%s/environ", argv[1]);
    int file = open(path, O_RDONLY);
    return file < 0 || read(file, some, sizeof some) <= 0 ? -1 : 0;
}
