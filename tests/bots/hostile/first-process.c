/* Opens the memory of the first process for writing: in a sandbox with process ids of its own that is
   one of the sandbox's, which has none of the bot's limits. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    char path[64];
    (void)argc;
    (void)argv;
    snprintf(path, sizeof path, "/proc/%d/mem", getppid());
    return open("/proc/1/mem", O_RDWR) < 0 && open(path, O_RDWR) < 0 ? -1 : 0;
}
