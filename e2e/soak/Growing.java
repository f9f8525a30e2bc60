import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Grows in one way: {@code garbage} fills the heap with objects that die, {@code heap} with objects that live,
 * {@code direct} takes memory outside the heap. Prints a line after it has grown, and then allocates garbage until it
 * is killed.
 */
class Growing {

    private static final int PIECE = 100_000;
    /** More of the heap than its part for old objects, which is two thirds. */
    private static final double SHARE = 0.7;

    private static volatile Object latest;

    public static void main(String[] arguments) {
        List<Object> kept = new ArrayList<>();
        long most = (long) (Runtime.getRuntime().maxMemory() * SHARE);
        for (long bytes = 0; bytes < most; bytes += PIECE) {
            switch (arguments[0]) {
                case "garbage" -> latest = new byte[PIECE];
                case "heap" -> kept.add(new byte[PIECE]);
                case "direct" -> kept.add(ByteBuffer.allocateDirect(PIECE));
                default -> throw new IllegalArgumentException(arguments[0]);
            }
        }
        System.out.println("grown");
        while (kept.size() < most) {
            latest = new byte[PIECE];
        }
    }
}
