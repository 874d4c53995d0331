/* Fills its scratch directory with files that it removes while they are open. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    static char block[1 << 20];
    char name[64];
    long written = 0;
    for (int i = 0; i < 16; i++) {
        snprintf(name, sizeof name, "removed-%d", i);
        const char *path = in_scratch(name);
        int file = open(path, O_WRONLY | O_CREAT, 0600);
        if (file < 0 || unlink(path) < 0)
            return -1;
        for (int j = 0; j < 16 && write(file, block, sizeof block) == (ssize_t)sizeof block; j++)
            written += sizeof block;
    }
    hold();
    errno = ENOSPC;
    return written > 100 << 20 ? 0 : -1;
}
