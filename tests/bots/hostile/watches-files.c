/* Uses up the instances of inotify that its user may have. */
#include "hostile.h"
#include <sys/inotify.h>

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return inotify_init1(0) < 0 && inotify_init() < 0 ? -1 : 0;
}
