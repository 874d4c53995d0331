/* Takes a lease on a file: whoever opens it then waits for up to 45 seconds. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    int file = open(argv[0], O_RDONLY);
    return file < 0 ? -1 : fcntl(file, F_SETLEASE, F_RDLCK);
}
