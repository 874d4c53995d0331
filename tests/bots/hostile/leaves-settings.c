/* Leaves a mark in what belongs to the user or to another process, and looks for the mark of an earlier one: a
   limit of the process that starts bots; mode and time of its own file; a key; the name of the host. */
#include "hostile.h"
#include <sys/resource.h>

#define MARK 0x1ef7be
#define NAME "left-behind"

static int limit(void)
{
    struct rlimit now;
    if (getrlimit(RLIMIT_RTTIME, &now) != 0)
        return 0;
    int found = now.rlim_cur == MARK;
    now.rlim_cur = found ? now.rlim_max : MARK;
    prlimit(getppid(), RLIMIT_RTTIME, &now, NULL);
    return found;
}

static int file(const char *path)
{
    struct stat now;
    if (stat(path, &now) != 0)
        return 0;
    int found = now.st_mode & S_ISVTX || now.st_mtim.tv_sec == MARK;
    chmod(path, now.st_mode | S_ISVTX);
    utimensat(AT_FDCWD, path, (struct timespec[]){{MARK, 0}, {MARK, 0}}, 0);
    return found;
}

static int key(int remove)
{
    const long user_session = -5, search = 10, unlink_key = 9;
    long found = syscall(SYS_keyctl, search, user_session, "user", NAME, 0);
    if (remove)
        syscall(SYS_keyctl, unlink_key, found, user_session);
    else if (found <= 0)
        syscall(SYS_add_key, "user", NAME, "x", 1, user_session);
    return found > 0;
}

static int host(void)
{
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    sethostname(NAME, strlen(NAME));
    return strcmp(name, NAME) == 0;
}

static int attack(int argc, char **argv)
{
    (void)argc;
    int found = limit() | file(argv[0]) | key(0) | host();
    /* It would outlive all processes. */
    if (found)
        key(1);
    else
        errno = ENOENT;
    return found ? 0 : -1;
}
