/* Tic-tac-toe as a game of its own:
 *
 *     cc -O2 -o tic-tac-toe games/tic-tac-toe.c
 *     referee --game ./tic-tac-toe BOT1 BOT2
 *
 * A bot is sent its mark and the nine cells, row by row (`X X.O......`), and answers with a cell, 1 to 9.
 */
#include <stdio.h>
#include <string.h>

static const char *const NAMES[8] = {"row 1",    "row 2",    "row 3",      "column 1",
                                     "column 2", "column 3", "diagonal 1", "diagonal 2"};
static const int LINES[8][3] = {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6},
                                {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}};

/* Copies the text of a field of the question, an object of texts and one of options. A text that does not fit, or has an
 * escaped character, is none of this game: then its first character is '!'. 0 when there is no such field. */
static int field(const char *question, const char *name, char *out, size_t size) {
    char key[32];
    snprintf(key, sizeof key, "\"%s\":\"", name);
    /* Within a text a quote has a backslash before it, so this is a key. */
    const char *at = strstr(question, key);
    size_t length = 0;
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

static int is_won(const char *board, const int *line) {
    return board[line[0]] != '.' && board[line[0]] == board[line[1]] && board[line[1]] == board[line[2]];
}

static int marks(const char *board) {
    int count = 0;
    for (int cell = 0; cell < 9; cell++) count += board[cell] != '.';
    return count;
}

/* X begins, so there are as many X as O, or one more. */
static int is_board(const char *text) {
    int more = 0;
    for (const char *at = text; *at != '\0'; at++) more += (*at == 'X') - (*at == 'O');
    return strlen(text) == 9 && strspn(text, "XO.") == 9 && (more == 0 || more == 1);
}

/* The state is the board: whose turn it is follows from the number of marks. */
static void position(const char *board) {
    int first = 1;
    printf("{\"state\":\"%s\"", board);
    for (int i = 0; i < 8; i++) {
        if (!is_won(board, LINES[i])) continue;
        char mark = board[LINES[i][0]];
        if (first) printf(",\"over\":{\"winner\":%d,\"lines\":[", mark == 'O');
        printf("%s[\"%s\",\"%c\"]", first ? "" : ",", NAMES[i], mark);
        first = 0;
    }
    if (!first) {
        printf("]}");
    } else if (marks(board) == 9) {
        printf(",\"over\":{\"winner\":null}");
    } else {
        int side = marks(board) % 2;
        printf(",\"side\":%d,\"request\":\"%c %s\"", side, "XO"[side], board);
    }
}

static void play(char *board, const char *answer) {
    if (strlen(answer) != 1 || answer[0] < '1' || answer[0] > '9') {
        printf("{\"malformed\":\"expected a cell, 1 to 9\"}\n");
    } else if (board[answer[0] - '1'] != '.') {
        printf("{\"illegal\":\"cell %s is taken\"}\n", answer);
    } else {
        char mark = "XO"[marks(board) % 2];
        board[answer[0] - '1'] = mark;
        position(board);
        printf(",\"turn\":\"%s\",\"words\":\"puts %c on %s\"}\n", answer, mark, answer);
    }
}

static void drawing(const char *board) {
    const char *comma = "";
    printf("{\"cells\":[");
    for (int cell = 0; cell < 9; cell++) {
        char text[2] = {board[cell], '\0'};
        printf("%s\"%s\"%s", cell % 3 ? "," : cell ? ",[" : "[", board[cell] == '.' ? "" : text, cell % 3 == 2 ? "]" : "");
    }
    printf("],\"winning\":[");
    for (int i = 0; i < 8; i++) {
        for (int j = 0; is_won(board, LINES[i]) && j < 3; j++, comma = ",") {
            printf("%s[%d,%d]", comma, LINES[i][j] / 3, LINES[i][j] % 3);
        }
    }
    printf("]}\n");
}

int main(void) {
    static char question[65536];
    while (fgets(question, sizeof question, stdin) != NULL) {
        char kind[16] = "", board[16] = ".........", answer[16] = "";
        field(question, "do", kind, sizeof kind);
        field(question, "state", board, sizeof board);
        field(question, "answer", answer, sizeof answer);
        if (strcmp(kind, "about") == 0) {
            printf("{\"name\":\"tic-tac-toe\",\"about\":\"Three in a row, column or diagonal win. Answer with a free cell, "
                   "1 to 9, row by row.\",\"first_drawn\":true,\"answers\":true,\"drawing\":true}\n");
        } else if (strcmp(kind, "start") == 0 && strstr(question, "\"options\":{}") == NULL) {
            printf("{\"error\":\"there are no options\"}\n");
        } else if (!is_board(board)) {
            printf("{\"error\":\"expected nine cells of X, O and ., with as many X as O, or one more\"}\n");
        } else if (strcmp(kind, "play") == 0) {
            play(board, answer);
        } else if (strcmp(kind, "answers") == 0) {
            const char *comma = "";
            printf("{\"answers\":[");
            for (int cell = 0; cell < 9; cell++) {
                if (board[cell] != '.') continue;
                printf("%s\"%d\"", comma, cell + 1);
                comma = ",";
            }
            printf("]}\n");
        } else if (strcmp(kind, "drawing") == 0) {
            drawing(board);
        } else {
            position(board);
            printf("}\n");
        }
        fflush(stdout);
    }
    return 0;
}
