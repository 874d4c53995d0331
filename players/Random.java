// A random player: any free cell, any piece left.
//
// Run it:  java Random.java                 (Debian package: default-jdk-headless)
// Build:   javac -d . Random.java && java Random
// It reads requests `BOARD PIECE` and answers `CELL GIFT`; see ../protocol.md.

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

public class Random {
    // With its full name, as this class may have the same one.
    private final java.util.Random random;

    Random(java.util.Random random) {
        this.random = random;
    }

    /** The value of an environment variable, empty when it is unset. */
    static String setting(String name) {
        String value = System.getenv(name);
        return value == null ? "" : value;
    }

    /** The characters of a text; some of them take two `char`s. */
    static List<String> characters(String text) {
        return text.codePoints().mapToObj(Character::toString).toList();
    }

    static List<String> readPieces() throws IOException {
        String path = setting("REFEREE_PIECES");
        if (path.isEmpty()) {
            return characters("ABCDEFGHIJKLMNOP");
        }
        return Files.readAllLines(Path.of(path), StandardCharsets.UTF_8).stream()
                .skip(1) // the header
                .map(String::strip)
                .filter(row -> !row.isEmpty())
                .map(row -> characters(row).get(row.startsWith("\"") ? 1 : 0)) // quoted or not
                .toList();
    }

    /** One of the items; `-` when there is none. */
    String choose(List<String> items) {
        return items.isEmpty() ? "-" : items.get(random.nextInt(items.size()));
    }

    String answer(List<String> pieces, List<String> board, String hand) {
        List<String> cells = new ArrayList<>();
        if (!hand.equals("-")) { // there is a piece to place
            for (int i = 0; i < board.size(); i++) {
                if (board.get(i).equals(".")) {
                    cells.add(String.valueOf(i + 1));
                }
            }
        }
        List<String> left = new ArrayList<>(pieces);
        left.removeAll(board);
        left.remove(hand);
        System.err.println("info gifts " + left.size()); // what it thinks, for its record
        return choose(cells) + " " + choose(left);
    }

    public static void main(String[] arguments) throws IOException {
        String seed = setting("REFEREE_SEED");
        Random player = new Random(
                seed.isEmpty() ? new java.util.Random() : new java.util.Random(Long.parseLong(seed)));
        List<String> pieces = readPieces();

        // UTF-8 whatever the locale says, and flushed after each line.
        var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var output = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line; (line = input.readLine()) != null; ) {
            String[] fields = line.split(" ");
            output.println(player.answer(pieces, characters(fields[0]), fields[1]));
        }
    }
}
