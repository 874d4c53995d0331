/* Appends to the file that is named. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    int file = open(argv[1], O_WRONLY | O_APPEND);
    return file < 0 || write(file, "forged\n", 7) != 7 ? -1 : 0;
}
