/* `-` read as a number, in Java
 *
 * At the opening there is `-` where a piece is expected.
 */
import java.util.Scanner;

public class NotANumber {
    public static void main(String[] args) {
        Scanner input = new Scanner(System.in);
        while (input.hasNextLine()) {
            int piece = Integer.parseInt(input.nextLine().split(" ")[1], 16);
            System.out.println("1 " + piece);
        }
    }
}
