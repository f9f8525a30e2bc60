import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.LineMap;
import com.sun.source.tree.MethodTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Prints {@code FILE#METHOD LINES} for each method and constructor of more lines than the argument, from its return type or
 * the brace of a constructor to its end. Standard input names the files, one a line. .ci/lengths calls it.
 */
final class MethodLengths {

    private MethodLengths() {}

    public static void main(String[] arguments) throws IOException {
        long most = Long.parseLong(arguments[0]);
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
                BufferedReader names = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            List<Path> files = names.lines().map(Path::of).toList();
            JavacTask task = (JavacTask) compiler.getTask(
                    null, manager, null, List.of("-proc:none"), null, manager.getJavaFileObjectsFromPaths(files));
            SourcePositions positions = Trees.instance(task).getSourcePositions();
            for (CompilationUnitTree unit : task.parse()) {
                new Methods(unit, positions, most).scan(unit, null);
            }
        }
    }

    private static final class Methods extends TreeScanner<Void, Void> {

        private final CompilationUnitTree unit;
        private final SourcePositions positions;
        private final long most;

        Methods(CompilationUnitTree unit, SourcePositions positions, long most) {
            this.unit = unit;
            this.positions = positions;
            this.most = most;
        }

        @Override
        public Void visitMethod(MethodTree method, Void nothing) {
            if (method.getBody() != null) {
                LineMap lines = unit.getLineMap();
                long begin = positions.getStartPosition(
                        unit, method.getReturnType() == null ? method.getBody() : method.getReturnType());
                long end = positions.getEndPosition(unit, method.getBody());
                long length = lines.getLineNumber(end) - lines.getLineNumber(begin) + 1;
                if (length > most) {
                    System.out.println(unit.getSourceFile().getName() + "#" + method.getName() + " " + length);
                }
            }
            return super.visitMethod(method, nothing);
        }
    }
}
