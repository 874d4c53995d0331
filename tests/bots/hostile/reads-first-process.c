/* Reads what the first process and its own parent were given and have in memory: environment, arguments of the
   kernel, memory map, memory, descriptors. In a sandbox the first process is one of the sandbox's. */
#include "hostile.h"

static int reads(const char *process, const char *name)
{
    char path[128], some[4096];
    snprintf(path, sizeof path, "/proc/%s/%s", process, name);
    int file = open(path, O_RDONLY);
    if (file < 0)
        return 0;
    ssize_t count = read(file, some, sizeof some);
    close(file);
    if (count > 0)
        dprintf(2, "%s is readable\n", path);
    /* At address 0 there is no memory to read: that it can be opened is enough. */
    return count > 0 || strcmp(name, "mem") == 0;
}

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    char parent[16], link[4096];
    snprintf(parent, sizeof parent, "%d", getppid());
    const char *processes[] = {"1", parent};
    const char *files[] = {"environ", "auxv", "maps", "smaps", "mem", "syscall"};
    int found = 0;
    for (size_t process = 0; process < 2; process++) {
        for (size_t file = 0; file < sizeof files / sizeof *files; file++)
            found += reads(processes[process], files[file]);
        for (const char **name = (const char *[]){"cwd", "exe", "root", "fd/0", "fd/3", NULL}; *name; name++) {
            char path[128];
            snprintf(path, sizeof path, "/proc/%s/%s", processes[process], *name);
            if (readlink(path, link, sizeof link) > 0) {
                dprintf(2, "%s is readable\n", path);
                found++;
            }
        }
    }
    return found ? 0 : -1;
}
