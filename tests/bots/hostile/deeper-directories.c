/* Leaves directories so deep within each other that no path leads there. */
#define LEVELS 2030
#include "deep-directories.c"
