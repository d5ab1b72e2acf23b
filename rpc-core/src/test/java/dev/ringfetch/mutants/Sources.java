package dev.ringfetch.mutants;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** The source files that are broken, and the compiler for what becomes of them. */
final class Sources {
  private final Path root;
  private final Path classes;
  private final JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();

  /**
   * Creates the sources.
   *
   * @param root folder of the sources.
   * @param classes where the unbroken classes are.
   */
  Sources(Path root, Path classes) {
    this.root = root;
    this.classes = classes;
  }

  /** The text of a file. */
  String read(String path) throws IOException {
    return Files.readString(root.resolve(path));
  }

  /** All mechanical mutants of the files whose paths begin so, with a folder at least. */
  List<Mutant> mechanical(List<String> beginnings) throws IOException {
    final List<Mutant> mutants = new ArrayList<>();
    for (final String beginning : beginnings) {
      final String folder = beginning.substring(0, beginning.lastIndexOf('/'));
      final List<String> paths;
      try (Stream<Path> listed = Files.walk(root.resolve(folder))) {
        paths =
            listed
                .map(file -> root.relativize(file).toString())
                .filter(path -> path.startsWith(beginning) && path.endsWith(".java"))
                .sorted()
                .toList();
      }
      if (paths.isEmpty()) {
        throw new IllegalArgumentException("no source begins so: " + beginning);
      }
      for (final String path : paths) {
        mutants.addAll(mechanical(path));
      }
    }
    return mutants;
  }

  private List<Mutant> mechanical(String path) throws IOException {
    final String source = read(path);
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      final JavacTask task =
          (JavacTask)
              compiler.getTask(null, files, null, null, null, List.of(new Text(path, source)));
      final CompilationUnitTree unit = task.parse().iterator().next();
      final SourcePositions positions = Trees.instance(task).getSourcePositions();
      return Mechanical.of(path, source, unit, positions);
    }
  }

  /**
   * Compiles the one file that a mutant changes.
   *
   * @return the folder of the classes that take the place of the unbroken ones.
   * @throws IllegalArgumentException when the mutant does not compile.
   */
  Path compile(Mutant mutant, Path folder) throws IOException {
    final String broken = mutant.apply(read(mutant.path()));
    Files.createDirectories(folder);
    final StringBuilder complaints = new StringBuilder();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      final boolean compiled =
          compiler
              .getTask(
                  null,
                  files,
                  complaint -> complaints.append('\n').append(complaint),
                  List.of(
                      "--release",
                      "17",
                      "-g",
                      "-proc:none",
                      "-implicit:none",
                      "-d",
                      folder.toString(),
                      "-cp",
                      classes + ":" + System.getProperty("java.class.path")),
                  null,
                  List.of(new Text(mutant.path(), broken)))
              .call();
      if (!compiled) {
        throw new IllegalArgumentException(mutant + " does not compile:" + complaints);
      }
    }
    return folder;
  }

  /** A source file in memory. */
  private static final class Text extends SimpleJavaFileObject {
    private final String text;

    Text(String path, String text) {
      super(URI.create("string:///" + path), JavaFileObject.Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }

    @Override
    public String toString() {
      return getName() + ", " + text.getBytes(StandardCharsets.UTF_8).length + " bytes";
    }
  }
}
