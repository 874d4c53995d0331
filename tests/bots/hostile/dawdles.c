/* Takes so many milliseconds for its first answer, a losing one, without using the processor. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    wait_ms(argc > 1 ? atoi(argv[1]) : 500);
    return 0;
}
