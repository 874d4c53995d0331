/* Leaves a program in its directory for temporary files that others run with its rights. */
#include "hostile.h"

static int is_set_uid(const char *path)
{
    struct stat file;
    return stat(path, &file) == 0 && (file.st_mode & (S_ISUID | S_ISGID)) != 0;
}

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    close(open(in_scratch("plain"), O_WRONLY | O_CREAT, 0755));
    chmod(in_scratch("plain"), 04755);
    if (is_set_uid(in_scratch("plain")))
        return 0;
    close(open(in_scratch("opened"), O_WRONLY | O_CREAT, 04755));
    if (is_set_uid(in_scratch("opened")))
        return 0;
    close(syscall(SYS_openat, AT_FDCWD, in_scratch("set-gid"), O_WRONLY | O_CREAT, 02755));
    if (is_set_uid(in_scratch("set-gid")))
        return 0;
    close(creat(in_scratch("created"), 04755));
    if (is_set_uid(in_scratch("created")))
        return 0;
    mknod(in_scratch("node"), S_IFREG | 04755, 0);
    if (is_set_uid(in_scratch("node")))
        return 0;
    mkdir(in_scratch("directory"), 02755);
    chmod(in_scratch("directory"), 02755);
    return is_set_uid(in_scratch("directory")) ? 0 : -1;
}
