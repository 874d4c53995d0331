/* Changes attributes, by each call that can: of the file that is named, and of its own program. What it
   changes stays when it has ended. */
#include "hostile.h"
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <utime.h>

static int reached;

/* Counts a call that the kernel carried out, or would have for another file system or attribute. */
static void tried(const char *name, long result)
{
    if (result >= 0 || errno == ENODATA || errno == EOPNOTSUPP) {
        dprintf(2, "%s is possible\n", name);
        reached++;
    }
}

static void attack_path(const char *path)
{
    struct timespec times[2] = {{1, 0}, {1, 0}};
    struct timeval values[2] = {{1, 0}, {1, 0}};
    struct utimbuf both = {1, 1};
    struct {
        unsigned long long value;
        unsigned int size, flags;
    } attribute = {(unsigned long long)"x", 1, 0};
    tried("chmod", chmod(path, 0644));
    tried("fchmodat", syscall(SYS_fchmodat, AT_FDCWD, path, 0644));
    tried("fchmodat2", syscall(452, AT_FDCWD, path, 0644, 0));
    tried("chown", chown(path, getuid(), getgid()));
    tried("lchown", lchown(path, getuid(), getgid()));
    tried("fchownat", fchownat(AT_FDCWD, path, getuid(), getgid(), 0));
    tried("utime", utime(path, &both));
    tried("utimes", utimes(path, values));
    tried("futimesat", futimesat(AT_FDCWD, path, values));
    tried("utimensat", utimensat(AT_FDCWD, path, times, 0));
    tried("setxattr", setxattr(path, "user.x", "x", 1, 0));
    tried("lsetxattr", lsetxattr(path, "user.x", "x", 1, 0));
    tried("setxattrat", syscall(463, AT_FDCWD, path, 0, "user.x", &attribute, sizeof attribute));
    tried("removexattr", removexattr(path, "user.x"));
    tried("lremovexattr", lremovexattr(path, "user.x"));
    tried("removexattrat", syscall(466, AT_FDCWD, path, 0, "user.y"));
}

static int attack(int argc, char **argv)
{
    (void)argc;
    attack_path(argv[1]);
    attack_path(argv[0]);
    struct timespec times[2] = {{1, 0}, {1, 0}};
    int file = open(argv[0], O_RDONLY), flags = 0;
    tried("fchmod", fchmod(file, 0755));
    tried("fchown", fchown(file, getuid(), getgid()));
    tried("futimens", futimens(file, times));
    tried("fsetxattr", fsetxattr(file, "user.x", "x", 1, 0));
    tried("fremovexattr", fremovexattr(file, "user.x"));
    tried("FS_IOC_SETFLAGS", ioctl(file, _IOW('f', 2, long), &flags));
    return reached ? 0 : -1;
}
