/* A random player: any free cell, any piece left.
 *
 * Build and run:  cc -O2 -o random-c random.c && ./random-c     (Debian package: gcc)
 * It reads requests `BOARD PIECE` and answers `CELL GIFT`; see ../protocol.md.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A piece is one character of UTF-8, which is up to four bytes long. */
typedef char Piece[5];

static Piece pieces[16];

static void set_piece(Piece piece, const char *text)
{
    unsigned char first = (unsigned char)text[0];
    int length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    snprintf(piece, sizeof(Piece), "%.*s", length, text);
}

static void read_pieces(void)
{
    const char *path = getenv("REFEREE_PIECES");
    if (path == NULL || *path == '\0') {
        for (int i = 0; i < 16; i++)
            set_piece(pieces[i], &"ABCDEFGHIJKLMNOP"[i]);
        return;
    }
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    static char row[65536];
    fgets(row, sizeof row, file); /* the header */
    for (int i = 0; i < 16 && fgets(row, sizeof row, file) != NULL; i++) {
        const char *field = row + strspn(row, " \t");
        if (*field == '"') /* a quoted field */
            field++;
        set_piece(pieces[i], field);
    }
    fclose(file);
}

/* A number from 0 to n - 1. */
static int draw(int n)
{
    return rand() % n;
}

int main(void)
{
    const char *seed = getenv("REFEREE_SEED");
    srand(seed != NULL && *seed != '\0' ? (unsigned)strtoul(seed, NULL, 10)
                                        : (unsigned)time(NULL));
    read_pieces();

    char board[16 * 4 + 1], hand[5];
    while (scanf("%64s %4s", board, hand) == 2) {
        /* The free cells: a character starts at each byte that does not continue one. */
        int cells[16], free_cells = 0, cell = 0;
        for (const char *c = board; *c != '\0'; c++) {
            if (((unsigned char)*c & 0xc0) != 0x80)
                cell++;
            if (*c == '.')
                cells[free_cells++] = cell;
        }
        const char *left[16];
        int pieces_left = 0;
        for (int i = 0; i < 16; i++)
            if (strstr(board, pieces[i]) == NULL && strcmp(pieces[i], hand) != 0)
                left[pieces_left++] = pieces[i];

        fprintf(stderr, "info gifts %d\n", pieces_left); /* what it thinks, for its record */
        if (strcmp(hand, "-") == 0)
            printf("-");
        else
            printf("%d", cells[draw(free_cells)]);
        printf(" %s\n", pieces_left > 0 ? left[draw(pieces_left)] : "-");
        fflush(stdout);
    }
    return 0;
}
