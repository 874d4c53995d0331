/* Not hostile: uses temporary files as libraries do. It makes files and directories, removes them, also while they are
   open, and more of them in turn than there may be at once. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    char byte = 'x';
    if (mkdir(in_scratch("directory"), 0700) < 0 || rmdir(in_scratch("directory")) < 0)
        return -1;
    for (int i = 0; i < 5000; i++) {
        const char *path = in_scratch("file");
        int file = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
        if (file < 0 || unlink(path) < 0 || write(file, &byte, 1) != 1)
            return -1;
        if (pread(file, &byte, 1, 0) != 1 || byte != 'x' || close(file) < 0)
            return -1;
    }
    if (access(in_scratch("file"), F_OK) == 0 || chdir(in_scratch("")) < 0)
        return -1;
    close(open("relative", O_WRONLY | O_CREAT, 0600));
    if (symlink("/usr", "link") < 0 || unlink("link") < 0 || unlink("relative") < 0)
        return -1;
    /* What is not in there cannot be removed. */
    return unlink("/etc/passwd") < 0 && unlink(beside(argv[0], "temporary-files")) < 0 &&
                   rmdir(in_scratch("")) < 0
               ? 0
               : -1;
}
