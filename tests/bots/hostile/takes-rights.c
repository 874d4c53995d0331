/* Finds a file of another bot in the list of processes, and takes away the right to read it. */
#include "hostile.h"
#include <dirent.h>

static int attack(int argc, char **argv)
{
    const char *mark = argv[argc - 1];
    DIR *processes = opendir("/proc");
    struct dirent *entry;
    int taken = 0;
    while (processes != NULL && (entry = readdir(processes)) != NULL) {
        char path[300], line[8192];
        snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
        int file = open(path, O_RDONLY);
        ssize_t length = file < 0 ? -1 : read(file, line, sizeof line - 1);
        close(file);
        if (length <= 0)
            continue;
        line[length] = 0;
        for (char *word = line; word < line + length; word += strlen(word) + 1)
            if (strncmp(word, "opponent/", 9) == 0 && chdir(mark) == 0)
                taken += chmod(word, 0) == 0;
    }
    return taken ? 0 : -1;
}
