/* Has the kernel signal the process that is named when there is something to read from a file, as if it had asked for it. */
#include "hostile.h"
#include <asm/sockios.h>
#include <sys/ioctl.h>

static void say_so(int reads, int writes)
{
    fcntl(reads, F_SETFL, O_ASYNC);
    if (write(writes, "x", 1) == 1)
        wait_ms(100);
}

static int attack(int argc, char **argv)
{
    (void)argc;
    char path[64], text[256] = "";
    int ends[2], pid = atoi(argv[1]);
    if (pipe(ends) == 0 && fcntl(ends[0], F_SETOWN, pid) == 0)
        say_so(ends[0], ends[1]);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 && ioctl(ends[0], FIOSETOWN, &pid) == 0)
        say_so(ends[0], ends[1]);
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int file = open(path, O_RDONLY);
    if (file < 0 || read(file, text, sizeof text - 1) <= 0)
        return -1;
    /* It has ended, and its parent has not asked. */
    const char *state = strrchr(text, ')');
    errno = EPERM;
    return state != NULL && state[2] == 'Z' ? 0 : -1;
}
