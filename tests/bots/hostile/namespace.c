/* Makes a world of its own, in which it may do everything. */
#include "hostile.h"
#include <sched.h>
static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return unshare(CLONE_NEWUSER);
}
