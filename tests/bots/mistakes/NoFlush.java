/* No flush in Java
 *
 * A `PrintWriter` keeps what it is given until `flush`.
 */
import java.io.*;

public class NoFlush {
    public static void main(String[] args) throws IOException {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        PrintWriter output = new PrintWriter(System.out);
        while (input.readLine() != null) output.println("- A");
        output.flush();
    }
}
