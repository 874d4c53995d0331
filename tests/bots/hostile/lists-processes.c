/* Finds another process in the list of all, with its command line. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    char path[64], byte;
    snprintf(path, sizeof path, "/proc/%s/cmdline", argc > 1 ? argv[1] : "");
    int file = open(path, O_RDONLY);
    return file >= 0 && read(file, &byte, 1) == 1 ? 0 : -1;
}
