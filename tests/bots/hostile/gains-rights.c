/* Starts a program that runs with the rights of its owner. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    pid_t child = fork();
    if (child == 0) {
        execl(argv[1], argv[1], (char *)NULL);
        _exit(9);
    }
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}
