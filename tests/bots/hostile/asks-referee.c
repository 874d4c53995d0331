/* Starts the referee's program, which has a solver. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    const char *const programs[] = {argv[1], "/.referee"};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        pid_t child = fork();
        if (child == 0) {
            close(1);
            execl(programs[i], programs[i], "pieces", (char *)NULL);
            _exit(9);
        }
        int status;
        waitpid(child, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) != 9)
            return 0;
    }
    return -1;
}
