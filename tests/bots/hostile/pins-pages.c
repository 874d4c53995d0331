/* Keeps 400 MiB of memory that it no longer has: of each large page a part is in a pipe. */
#include "hostile.h"
#include <sys/uio.h>

#define LARGE (2ul << 20)
#define IN_A_PIPE 16

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    int ends[2];
    for (int i = 0; i < 200; i++) {
        if (i % IN_A_PIPE == 0 && pipe(ends) < 0)
            return -1;
        char *some = mmap(NULL, 2 * LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (some == MAP_FAILED)
            return -1;
        char *page = (char *)(((unsigned long)some + LARGE - 1) & -LARGE);
        madvise(page, LARGE, MADV_HUGEPAGE);
        fill(page, LARGE);
        struct iovec part = {page, 4096};
        if (vmsplice(ends[1], &part, 1, SPLICE_F_NONBLOCK) != 4096)
            return -1;
        munmap(some, 2 * LARGE);
    }
    wait_ms(100);
    return 0;
}
