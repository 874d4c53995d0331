/* A typing error in Java
 *
 * `java` compiles the file first, and says where it cannot.
 */
public class DoesNotCompile {
    public static void main(String[] args) {
        Scanner input = new Scanner(System.in);
        while (input.hasNextLine()) System.out.println("- A");
    }
}
