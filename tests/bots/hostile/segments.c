/* Changes the processor's table of segments, which hardly any program of today uses. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
#ifdef SYS_modify_ldt
    char table[256];
    return syscall(SYS_modify_ldt, 0, table, sizeof table) < 0 ? -1 : 0;
#else
    errno = ENOSYS;
    return -1;
#endif
}
