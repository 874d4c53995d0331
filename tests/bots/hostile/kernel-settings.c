/* Opens, for writing, the setting that says which program the kernel runs, as root and outside of
   all sandboxes, when a process crashes; and some others. Nothing is written. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    static const char *const settings[] = {
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/kernel/modprobe",
        "/proc/sys/vm/drop_caches",
        "/proc/sysrq-trigger",
    };
    (void)argc;
    (void)argv;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (open(settings[i], O_WRONLY) >= 0)
            return 0;
    return -1;
}
