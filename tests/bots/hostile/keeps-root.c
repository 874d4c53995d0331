/* Has the rights of root, as its user or in one of its groups. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    gid_t groups[64];
    uid_t real, effective, saved;
    int count = getgroups(64, groups);
    errno = EPERM;
    getresuid(&real, &effective, &saved);
    if (real == 0 || effective == 0 || saved == 0 || getgid() == 0 || getegid() == 0)
        return 0;
    if (count > 0 && getenv("AT_ONCE") == NULL)
        for (int i = 0; i < count; i++)
            if (groups[i] == 0)
                return 0;
    return setuid(0) == 0 || setgid(0) == 0 ? 0 : -1;
}
