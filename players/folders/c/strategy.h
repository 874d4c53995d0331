struct turn {
    int cell;
    char gift;
};

/* A cell for the piece, and one of the pieces left for the opponent. */
struct turn choose(const char *board, char piece, const int *cells, int count, const char *left);
