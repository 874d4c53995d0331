/* Connects to a socket by its abstract name. */
#include "hostile.h"
#include <stddef.h>
static int attack(int argc, char **argv)
{
    (void)argc;
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t length = strlen(argv[1]);
    memcpy(to.sun_path + 1, argv[1], length);
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    return s < 0 ? -1 : connect(s, (struct sockaddr *)&to, offsetof(struct sockaddr_un, sun_path) + 1 + length);
}
