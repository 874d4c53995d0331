/* Forks, leaves its group and ends, again and again, for two seconds. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    time_t end = time(NULL) + 3;
    pid_t leader = fork();
    if (leader != 0)
        return leader < 0;
    while (time(NULL) < end) {
        setsid();
        if (fork() != 0)
            _exit(0);
    }
    _exit(0);
}
