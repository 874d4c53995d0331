/* Pins the process that is named to one processor. */
#include "hostile.h"
#include <sched.h>
static int attack(int argc, char **argv)
{
    (void)argc;
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(0, &cpus);
    return sched_setaffinity(atoi(argv[1]), sizeof cpus, &cpus);
}
