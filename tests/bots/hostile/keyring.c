/* Leaves a key for others. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return syscall(SYS_add_key, "user", "hostile", "x", 1, -4 /* of the user */) < 0 ? -1 : 0;
}
