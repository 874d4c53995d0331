/* Sees to it that the system's program for core dumps is started when it crashes: outside, with all rights. With a
   limit of 0 that happens; with one of a byte it does not. */
#include "hostile.h"
#include <sys/resource.h>

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    struct rlimit none = {0, 0}, now;
    getrlimit(RLIMIT_CORE, &now);
    return now.rlim_cur == 1 && setrlimit(RLIMIT_CORE, &none) < 0 &&
                   syscall(SYS_prlimit64, 0, RLIMIT_CORE, &none, NULL) < 0
               ? -1
               : 0;
}
