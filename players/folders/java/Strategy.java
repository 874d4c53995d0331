import java.util.List;
import java.util.Random;

/** What the bot plays: change this. */
class Strategy {
    // The same seed plays the same game again.
    private final Random random = new Random(Long.parseLong(System.getenv().getOrDefault("REFEREE_SEED", "1")));

    /** A cell for the piece, and a piece for the opponent. */
    String choose(String board, String piece, List<String> cells, List<String> left) {
        return one(cells) + " " + one(left);
    }

    private String one(List<String> all) {
        return all.get(random.nextInt(all.size()));
    }
}
