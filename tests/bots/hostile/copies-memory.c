/* Copies the memory of the process that is named. */
#include "hostile.h"
#include <sys/uio.h>
static int attack(int argc, char **argv)
{
    (void)argc;
    char path[64], line[256], some[8];
    snprintf(path, sizeof path, "/proc/%s/maps", argv[1]);
    FILE *maps = fopen(path, "r");
    unsigned long start = 0x400000;
    if (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        start = strtoul(line, NULL, 16);
    struct iovec here = {some, sizeof some}, there = {(void *)start, sizeof some};
    return process_vm_readv(atoi(argv[1]), &here, 1, &there, 1, 0) > 0 ? 0 : -1;
}
