/* Takes contexts for asynchronous reading, of which the whole machine has only so many. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    unsigned long context = 0;
    return syscall(SYS_io_setup, 128, &context) < 0 ? -1 : 0;
}
