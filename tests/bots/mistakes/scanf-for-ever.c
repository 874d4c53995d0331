/* `scanf` in C, its end of file not looked at
 *
 * `scanf` says when the input has ended, and nobody asks it.
 */
#include <stdio.h>
#include <string.h>

int main(void) {
    char board[17], piece[2];
    for (;;) {
        scanf("%16s %1s", board, piece);
        char *cell = strchr(board, '.'), gift[2] = "-";
        for (char p = 'A'; p <= 'P' && *gift == '-'; p++)
            if (!strchr(board, p) && p != *piece) *gift = p;
        if (*piece == '-') printf("- %s\n", gift);
        else printf("%d %s\n", (int)(cell - board + 1), gift);
        fflush(stdout);
    }
}
