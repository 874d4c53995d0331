/* Takes half a second for its first answer, a losing one, without using the processor. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    wait_ms(500);
    return 0;
}
