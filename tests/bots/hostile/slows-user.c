/* Sets the priorities of all processes of its user or its group; to what they are. */
#include "hostile.h"
#include <sys/resource.h>

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    /* IOPRIO_WHO_PGRP, and class 2 (best effort) with priority 4, which is what they have. */
    return setpriority(PRIO_PGRP, 0, 0) < 0 && setpriority(PRIO_USER, 0, 0) < 0 &&
                   syscall(SYS_ioprio_set, 2, 0, 2 << 13 | 4) < 0 &&
                   syscall(SYS_ioprio_set, 3, 0, 2 << 13 | 4) < 0
               ? -1
               : 0;
}
