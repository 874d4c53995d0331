/* Has the kernel make its calls for it. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    char parameters[120] = {0};
    return syscall(SYS_io_uring_setup, 1, parameters) < 0 ? -1 : 0;
}
