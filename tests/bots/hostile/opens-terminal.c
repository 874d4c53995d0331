/* Types for the person at the terminal. */
#include "hostile.h"
#include <sys/ioctl.h>
static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    int terminal = open("/dev/tty", O_RDWR);
    if (terminal < 0)
        return -1;
    /* The kernel may forbid it even to those who have a terminal. */
    ioctl(terminal, TIOCSTI, "x");
    return 0;
}
