/* Writes beside its own program. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    int file = open(beside(argv[0], "filled"), O_WRONLY | O_CREAT, 0600);
    return file < 0 || write(file, "x", 1) != 1 ? -1 : 0;
}
