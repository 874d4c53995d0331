/* Connects to a socket in the file system. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    strncpy(to.sun_path, argv[1], sizeof to.sun_path - 1);
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    return s < 0 ? -1 : connect(s, (struct sockaddr *)&to, sizeof to);
}
