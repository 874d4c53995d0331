/* Traces the process that is named. */
#include "hostile.h"
#include <sys/ptrace.h>
static int attack(int argc, char **argv)
{
    (void)argc;
    pid_t pid = atoi(argv[1]);
    if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0)
        return -1;
    ptrace(PTRACE_DETACH, pid, NULL, NULL);
    return 0;
}
