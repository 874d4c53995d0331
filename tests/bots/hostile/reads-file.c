/* Reads the file that is named. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    char some[64];
    int file = open(argv[1], O_RDONLY);
    return file < 0 || read(file, some, sizeof some) <= 0 ? -1 : 0;
}
