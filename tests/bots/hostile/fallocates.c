/* Takes 300 MiB of the disk at once, without writing them. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    for (int i = 0; i < 5; i++) {
        char name[16];
        snprintf(name, sizeof name, "taken-%d", i);
        int file = open(in_scratch(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        /* Beyond the end of the file: the limit of a file's size does not count. */
        if (file < 0 || fallocate(file, FALLOC_FL_KEEP_SIZE, 0, 60 << 20) < 0)
            return -1;
        close(file);
    }
    return 0;
}
