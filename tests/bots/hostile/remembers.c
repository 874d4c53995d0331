/* Finds what an earlier process left in its directory for temporary files. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    int file = open(in_scratch("memory"), O_RDONLY);
    if (file >= 0)
        return 0;
    int kept = errno;
    close(open(in_scratch("memory"), O_WRONLY | O_CREAT, 0600));
    errno = kept;
    return -1;
}
