import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;

/** Reads a question a line, and prints the answer of Strategy.java. */
class Bot {
    public static void main(String[] arguments) {
        Scanner input = new Scanner(System.in);
        Strategy strategy = new Strategy();
        while (input.hasNextLine()) {
            String[] question = input.nextLine().split(" ");
            String board = question[0], piece = question[1];
            List<String> cells = new ArrayList<>(), left = new ArrayList<>();
            for (int i = 0; i < 16; i++) {
                if (board.charAt(i) == '.' && !piece.equals("-")) cells.add(String.valueOf(i + 1));
                String symbol = String.valueOf((char) ('A' + i));
                if (!board.contains(symbol) && !piece.equals(symbol)) left.add(symbol);
            }
            if (cells.isEmpty()) cells.add("-");
            if (left.isEmpty()) left.add("-");
            System.out.println(strategy.choose(board, piece, cells, left));
            System.out.flush();
        }
    }
}
