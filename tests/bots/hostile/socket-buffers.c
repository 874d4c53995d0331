/* Leaves 400 MiB in sockets, where no process has them. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    static char block[1 << 15];
    int filled[2], end[2];
    if (pipe(filled) < 0 || pipe(end) < 0)
        return -1;
    long all = 0;
    for (int i = 0; i < 30; i++) {
        if (fork() == 0) {
            long here = 0;
            int ends[2];
            while (here < 14l << 20 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0) {
                ssize_t sent;
                while ((sent = write(ends[0], block, sizeof block)) > 0)
                    here += sent;
            }
            close(end[1]);
            if (write(filled[1], &here, sizeof here) == sizeof here)
                wait_for(end[0]);
            _exit(0);
        }
    }
    close(filled[1]);
    for (int i = 0; i < 30; i++) {
        long here = 0;
        if (read(filled[0], &here, sizeof here) != sizeof here)
            break;
        all += here;
    }
    errno = ENOMEM;
    return all > 400l << 20 ? 0 : -1;
}
