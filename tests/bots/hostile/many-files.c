/* Makes 6000 empty files. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    for (int i = 0; i < 6000; i++) {
        char name[16];
        snprintf(name, sizeof name, "many-%d", i);
        int file = open(in_scratch(name), O_WRONLY | O_CREAT, 0600);
        if (file < 0)
            return -1;
        close(file);
    }
    hold();
    return 0;
}
