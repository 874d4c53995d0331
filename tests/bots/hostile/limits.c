/* Sets a limit of the process that is named. */
#include "hostile.h"
#include <sys/resource.h>
static int attack(int argc, char **argv)
{
    (void)argc;
    struct rlimit limit = {0, 0};
    return prlimit(atoi(argv[1]), RLIMIT_CORE, &limit, NULL);
}
