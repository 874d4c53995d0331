/* Othello:
 *
 *     cc -O2 -o othello games/othello.c
 *     referee --game ./othello BOT1 BOT2
 *
 * A bot is sent its mark and the 64 cells, row by row from the top left (`X ......`), and answers with a cell: a column, a to
 * h, and a row, 1 to 8 from the top (`d3`). X begins. A side that cannot turn a disc over is not asked; when neither can,
 * the game is over, and more discs win.
 */
#include <stdio.h>
#include <string.h>

/* Copies the text of a field of the question. A text that does not fit, or has an escaped character, is none of this game:
 * then its first character is '!'. 0 when there is no such field. */
static int field(const char *question, const char *name, char *out, size_t size) {
    char key[32];
    size_t length = 0;
    snprintf(key, sizeof key, "\"%s\":\"", name);
    const char *at = strstr(question, key);
    if (at == NULL) return 0;
    for (at += strlen(key); *at != '"' && *at != '\0'; at++) {
        if (*at == '\\' || length + 1 >= size) {
            strcpy(out, "!");
            return 1;
        }
        out[length++] = *at;
    }
    out[length] = '\0';
    return 1;
}

/* How many discs a disc here turns over, and turns them in `after` where there is one. */
static int turned(const char *board, char mark, int cell, char *after) {
    int all = 0;
    if (board[cell] != '.') return 0;
    for (int step = 0; step < 9; step++) {
        int down = step / 3 - 1, right = step % 3 - 1, length = 0;
        int row = cell / 8 + down, column = cell % 8 + right;
        if (down == 0 && right == 0) continue;
        while (row >= 0 && row < 8 && column >= 0 && column < 8 && board[8 * row + column] != '.' &&
               board[8 * row + column] != mark) {
            length++;
            row += down;
            column += right;
        }
        if (row < 0 || row > 7 || column < 0 || column > 7 || board[8 * row + column] != mark) continue;
        for (int back = 1; after != NULL && back <= length; back++) after[8 * (row - back * down) + column - back * right] = mark;
        all += length;
    }
    if (after != NULL && all > 0) after[cell] = mark;
    return all;
}

static int can_move(const char *board, char mark) {
    for (int cell = 0; cell < 64; cell++) {
        if (turned(board, mark, cell, NULL) > 0) return 1;
    }
    return 0;
}

static int count(const char *board, char mark) {
    int found = 0;
    for (int cell = 0; cell < 64; cell++) found += board[cell] == mark;
    return found;
}

/* The other side moves on where this one cannot. */
static int mover(const char *board, int side) {
    return !can_move(board, "XO"[side]) && can_move(board, "XO"[1 - side]) ? 1 - side : side;
}

/* The state is the board and the side to move: `... 0`. */
static void position(const char *board, int side) {
    side = mover(board, side);
    printf("{\"state\":\"%s %d\"", board, side);
    if (can_move(board, "XO"[side])) {
        printf(",\"side\":%d,\"request\":\"%c %s\"", side, "XO"[side], board);
        return;
    }
    int first = count(board, 'X'), second = count(board, 'O');
    printf(",\"over\":{\"winner\":%s,\"points\":[%d,%d]}", first == second ? "null" : first > second ? "0" : "1", first, second);
}

static void answers(const char *board, char mark, const char *before, const char *quote) {
    const char *comma = "";
    printf("%s", before);
    for (int cell = 0; cell < 64; cell++) {
        if (turned(board, mark, cell, NULL) == 0) continue;
        printf("%s%s%c%d%s", comma, quote, 'a' + cell % 8, cell / 8 + 1, quote);
        comma = *quote ? "," : ", ";
    }
}

static void play(const char *board, int side, const char *answer) {
    char after[65], mark = "XO"[side];
    if (strlen(answer) != 2 || answer[0] < 'a' || answer[0] > 'h' || answer[1] < '1' || answer[1] > '8') {
        printf("{\"malformed\":\"expected a cell, such as d3\"}\n");
        return;
    }
    strcpy(after, board);
    int found = turned(board, mark, 8 * (answer[1] - '1') + answer[0] - 'a', after);
    if (found == 0) {
        printf("{\"illegal\":\"%c turns nothing over on %s; expected ", mark, answer);
        answers(board, mark, "", "");
        printf("\"}\n");
        return;
    }
    position(after, 1 - side);
    printf(",\"turn\":\"%s\",\"words\":\"puts %c on %s, turns %d over\"}\n", answer, mark, answer, found);
}

static void drawing(const char *board) {
    printf("{\"cells\":[");
    for (int cell = 0; cell < 64; cell++) {
        char text[2] = {board[cell] == '.' ? '\0' : board[cell], '\0'};
        printf("%s\"%s\"%s", cell % 8 ? "," : cell ? ",[" : "[", text, cell % 8 == 7 ? "]" : "");
    }
    printf("],\"columns\":[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"h\"],\"rows\":[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\"]");
    printf(",\"text\":[\"X %d, O %d\"],\"svg\":\"<svg xmlns='http://www.w3.org/2000/svg' viewBox='-.1 -.1 8.2 8.2'>",
           count(board, 'X'), count(board, 'O'));
    printf("<rect width='8' height='8' fill='#2f9273'/>");
    for (int i = 0; i < 9; i++) printf("<path d='M%d 0V8M0 %dH8' stroke='#135' stroke-width='.03'/>", i, i);
    for (int cell = 0; cell < 64; cell++) {
        if (board[cell] == '.') continue;
        const char *fill = board[cell] == 'X' ? "#111" : "#fff";
        printf("<circle cx='%d.5' cy='%d.5' r='.4' fill='%s'/>", cell % 8, cell / 8, fill);
    }
    printf("</svg>\"}\n");
}

int main(void) {
    static char question[65536];
    while (fgets(question, sizeof question, stdin) != NULL) {
        char kind[16] = "", state[128] = "", answer[16] = "";
        field(question, "do", kind, sizeof kind);
        field(question, "state", state, sizeof state);
        field(question, "answer", answer, sizeof answer);
        int is_start = strcmp(kind, "start") == 0;
        int is_state = strlen(state) == 66 && strspn(state, "XO.") == 64 && state[64] == ' ' && (state[65] == '0' || state[65] == '1');
        int side = state[65] - '0';
        state[64] = '\0';
        if (strcmp(kind, "about") == 0) {
            printf("{\"name\":\"othello\",\"about\":\"Answer with a cell, such as d3, where you turn over discs of the other "
                   "mark. More discs win.\",\"first_drawn\":true,\"answers\":true,\"drawing\":true}\n");
        } else if (is_start && strstr(question, "\"options\":{}") == NULL) {
            printf("{\"error\":\"there are no options\"}\n");
        } else if (is_start) {
            position("...........................OX......XO...........................", 0);
            printf("}\n");
        } else if (!is_state || mover(state, side) != side) {
            printf("{\"error\":\"expected 64 cells of X, O and ., and the side to move, 0 or 1\"}\n");
        } else if (strcmp(kind, "play") == 0) {
            play(state, side, answer);
        } else if (strcmp(kind, "answers") == 0) {
            answers(state, "XO"[side], "{\"answers\":[", "\"");
            printf("]}\n");
        } else if (strcmp(kind, "drawing") == 0) {
            drawing(state);
        } else {
            position(state, side);
            printf("}\n");
        }
        fflush(stdout);
    }
    return 0;
}
