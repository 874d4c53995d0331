/* Writes 150 MiB into a directory for temporary files that it closes to everybody. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    static char some[1 << 20];
    fill(some, sizeof some);
    if (mkdir(in_scratch("closed"), 0700) < 0)
        return -1;
    int files[5];
    for (int i = 0; i < 5; i++) {
        char name[32];
        snprintf(name, sizeof name, "closed/fill-%d", i);
        files[i] = open(in_scratch(name), O_WRONLY | O_CREAT, 0600);
        if (files[i] < 0)
            return -1;
    }
    chmod(in_scratch("closed"), 0);
    for (int i = 0; i < 150; i++)
        if (write(files[i / 30], some, sizeof some) != sizeof some)
            return -1;
    hold();
    return 0;
}
