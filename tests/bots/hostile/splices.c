/* Keeps 80 MiB of files that are empty by then: their pages are in pipes. */
#include "hostile.h"
#include <sys/sendfile.h>

#define CHILDREN 36
#define PIPES 120
#define PART (64l << 10)

/* How much of a file is in pipes now. */
static long keep(int child)
{
    static char part[PART];
    char name[16];
    long kept = 0;
    int ends[2];
    fill(part, PART);
    snprintf(name, sizeof name, "pages-%d", child);
    int file = open(in_scratch(name), O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; file >= 0 && i < PIPES && pipe(ends) == 0; i++) {
        off_t from = 0;
        if (pwrite(file, part, PART, 0) != PART)
            break;
        fcntl(ends[1], F_SETFL, O_NONBLOCK);
        ssize_t moved = i % 2 ? splice(file, &from, ends[1], NULL, PART, SPLICE_F_NONBLOCK)
                              : sendfile(ends[1], file, &from, PART);
        if (moved > 0)
            kept += moved;
        if (ftruncate(file, 0) < 0)
            break;
    }
    return kept;
}

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    int filled[2], end[2];
    if (pipe(filled) < 0 || pipe(end) < 0)
        return -1;
    for (int i = 0; i < CHILDREN; i++) {
        if (fork() == 0) {
            close(end[1]);
            long here = keep(i);
            if (write(filled[1], &here, sizeof here) == sizeof here)
                wait_for(end[0]);
            _exit(0);
        }
    }
    close(filled[1]);
    long all = 0;
    for (int i = 0; i < CHILDREN; i++) {
        long here = 0;
        if (read(filled[0], &here, sizeof here) != sizeof here)
            break;
        all += here;
    }
    if (getenv("AT_ONCE"))
        fprintf(stderr, "%ld MiB kept\n", all >> 20);
    errno = EINVAL;
    return all > 64l << 20 ? 0 : -1;
}
