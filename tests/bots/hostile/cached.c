/* Asks which pages of a file are in memory: what an earlier process has read, this one can tell. */
#include "hostile.h"
#include <sys/uio.h>

static int attack(int argc, char **argv)
{
    (void)argc;
    unsigned char resident = 0;
    unsigned long long range[2] = {0, 0}, counts[5];
    char some[16];
    struct iovec into = {some, sizeof some};
    int file = open(argv[0], O_RDONLY);
    void *page = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, file, 0);
    if (file < 0 || page == MAP_FAILED)
        return -1;
    return mincore(page, 1, &resident) < 0 && syscall(451, file, range, counts, 0) < 0 &&
                   preadv2(file, &into, 1, 0, RWF_NOWAIT) < 0
               ? -1
               : 0;
}
