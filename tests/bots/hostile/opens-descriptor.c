/* Writes to a file that the process that is named has open. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    char path[64];
    snprintf(path, sizeof path, "/proc/%s/fd/9", argv[1]);
    int file = open(path, O_WRONLY | O_APPEND);
    return file < 0 || write(file, "forged\n", 7) != 7 ? -1 : 0;
}
