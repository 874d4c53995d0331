import java.util.Scanner;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;

/** Parallel streams, and threads of an executor (virtual ones where Java has them). */
class Streams {
    public static void main(String[] arguments) throws Exception {
        var input = new Scanner(System.in);
        try (var closer = new AutoCloseable() {
            public void close() {}
        }) {
            var executor = executor();
            while (input.hasNextLine()) {
                var line = input.nextLine();
                System.out.println(executor.submit(() -> answer(line)).get());
                System.out.flush();
            }
            executor.shutdown();
        }
    }

    static java.util.concurrent.ExecutorService executor() throws Exception {
        try {
            var method = Executors.class.getMethod("newVirtualThreadPerTaskExecutor");
            return (java.util.concurrent.ExecutorService) method.invoke(null);
        } catch (NoSuchMethodException older) {
            return Executors.newCachedThreadPool();
        }
    }

    static String answer(String line) {
        var parts = line.trim().split(" ");
        var cell = parts[1].equals("-") ? "-" : String.valueOf(1 + IntStream.range(0, 16).parallel()
            .filter(i -> parts[0].charAt(i) == '.').min().getAsInt());
        var gift = "ABCDEFGHIJKLMNOP".chars().parallel()
            .filter(piece -> line.indexOf(piece) < 0).min();
        return cell + " " + (gift.isPresent() ? (char) gift.getAsInt() : '-');
    }
}
