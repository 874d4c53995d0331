/* Makes the process that is named run slower. */
#include "hostile.h"
#include <sys/resource.h>
static int attack(int argc, char **argv)
{
    (void)argc;
    return setpriority(PRIO_PROCESS, atoi(argv[1]), 19);
}
