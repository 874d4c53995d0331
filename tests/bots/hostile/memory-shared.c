/* Fills 400 MiB of memory that is shared, and hides it from its own account. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    for (int i = 0; i < 100; i++) {
        char *some = mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (some == MAP_FAILED)
            return -1;
        fill(some, 4 << 20);
        madvise(some, 4 << 20, MADV_DONTNEED);
    }
    return 0;
}
